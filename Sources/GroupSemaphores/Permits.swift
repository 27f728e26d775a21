import CSemaphoreLayout
import Platform

/// A recoverable semaphore: its count is the number of free permits, and a taken permit names the
/// place of its holder. So taking a count and saying who has it is one store, and there is nothing
/// between the two where a process could die.
extension SemaphoreFile {
  enum Permit {
    static let none = UInt32(GS_PERMIT_NONE)
    static let free = UInt32(GS_PERMIT_FREE)
    /// Taken for good, by nobody in particular.
    static let taken = UInt32(GS_PERMIT_TAKEN)
    static func held(by place: Int) -> UInt32 { UInt32(GS_PERMIT_HELD) + UInt32(place) }
  }

  static var placeCount: Int { Int(GS_PLACES) }
  private static var permitCount: Int { Int(GS_PERMITS) }

  private func permit(_ index: Int) -> UInt32 {
    // SYNC free/take: acquire side. Who takes a permit sees what was done before it was freed.
    memory.loadAcquiring32(at: Int(GS_AT_PERMITS) + index * 4)
  }

  /// Changes permits that are `old` into `new`, in one pass, so that nobody who changes them back
  /// can keep this going.
  /// - Returns: how many were changed.
  @discardableResult
  func changePermits(
    _ old: UInt32, to new: UInt32, atMost limit: Int = .max, _ onChange: () -> Void = {}
  ) -> Int {
    var count = 0
    for index in 0..<Self.permitCount where permit(index) == old {
      // SYNC free/take: release side when it frees, acquire side when it takes.
      guard memory.replace32(old, with: new, at: Int(GS_AT_PERMITS) + index * 4) else { continue }
      count += 1
      onChange()
      if count == limit { break }
    }
    return count
  }

  func changeOnePermit(_ old: UInt32, to new: UInt32) -> Bool {
    changePermits(old, to: new, atMost: 1) == 1
  }

  /// Before the file has its name.
  func setPermitFree(_ index: Int) {
    // SYNC make/open: written before the file can be opened.
    memory.storeReleasing32(Permit.free, at: Int(GS_AT_PERMITS) + index * 4)
  }

  func permits(_ value: UInt32) -> Int {
    (0..<Self.permitCount).count { permit($0) == value }
  }

  /// How many permits are held from each place that holds any; numbers that are no place's are left
  /// out.
  func heldPermits() -> [Int: Int] {
    var held: [Int: Int] = [:]
    for index in 0..<Self.permitCount {
      let place = Int(permit(index)) - Int(GS_PERMIT_HELD)
      if (0..<Self.placeCount).contains(place) { held[place, default: 0] += 1 }
    }
    return held
  }

  // MARK: The bell

  /// To be read before looking at the permits: a later ring then keeps the sleeper awake.
  var bell: UInt32 {
    // SYNC ring/sleep: acquire side.
    memory.loadAcquiring32(at: Int(GS_AT_BELL))
  }

  func sleepForPermit(since bell: UInt32, stop: StopSignal?, until deadline: Deadline) {
    memory.sleep(while: Int(GS_AT_BELL), is: bell, stop: stop, until: deadline)
  }

  /// Says that permits have become free.
  func ring(waking count: Int, _ onStep: OnStep) {
    // SYNC ring/sleep: release side, after the permits were freed.
    memory.add32(1, at: Int(GS_AT_BELL))
    onStep?(.bellRung)
    memory.wake(count, at: Int(GS_AT_BELL))
  }

  // MARK: Places

  /// Where the lock lies that says that a place's owner lives.
  private static func offset(ofPlace place: Int) -> Int { Int(GS_AT_PIDS) + place * 4 }

  /// Takes a place that nobody has, or whose owner died.
  /// - Returns: false if its owner lives, so far as that is another opening of the file.
  func lockPlace(_ place: Int) throws(SemaphoreError) -> Bool {
    do {
      return try descriptor.lockByte(Self.offset(ofPlace: place))
    } catch {
      throw .system(error)
    }
  }

  func unlockPlace(_ place: Int) { descriptor.unlockByte(Self.offset(ofPlace: place)) }

  /// Who has the place, as it says itself: for people to read.
  func processID(ofPlace place: Int) -> Int32 {
    // SYNC seat/show: acquire side.
    Int32(truncatingIfNeeded: memory.loadAcquiring32(at: Self.offset(ofPlace: place)))
  }

  func setProcessID(_ processID: Int32, ofPlace place: Int) {
    // SYNC seat/show: release side.
    memory.storeReleasing32(UInt32(bitPattern: processID), at: Self.offset(ofPlace: place))
  }
}
