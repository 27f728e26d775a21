import CSemaphoreLayout
import Platform

/// A recoverable semaphore: its count is the number of free permits, and a taken permit names the
/// entry of its holder. Taking a permit and recording its holder is one store, so a process cannot
/// die between the two.
extension SemaphoreFile {
  enum Permit {
    static let none = UInt32(GS_PERMIT_NONE)
    static let free = UInt32(GS_PERMIT_FREE)
    /// Taken, without a holder.
    static let taken = UInt32(GS_PERMIT_TAKEN)
    static func held(by entry: Int) -> UInt32 { UInt32(GS_PERMIT_HELD) + UInt32(entry) }
  }

  static var entryCount: Int { Int(GS_ENTRIES) }
  private static var permitCount: Int { Int(GS_PERMITS) }

  private func permit(_ index: Int) -> UInt32 {
    // SYNC free/take: acquire side. The taker of a permit sees what was done before it was freed.
    memory.loadAcquiring32(at: Int(GS_AT_PERMITS) + index * 4)
  }

  /// Changes permits from `old` to `new`, in one pass, so that a process that changes them back
  /// cannot keep this call busy.
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

  /// Called before the file has its name.
  func setPermitFree(_ index: Int) {
    // SYNC make/open: written before the file can be opened.
    memory.storeReleasing32(Permit.free, at: Int(GS_AT_PERMITS) + index * 4)
  }

  func permits(_ value: UInt32) -> Int {
    (0..<Self.permitCount).count { permit($0) == value }
  }

  /// The number of permits held through each entry. Permits with an invalid entry number are left
  /// out.
  func heldPermits() -> [Int: Int] {
    var held: [Int: Int] = [:]
    for index in 0..<Self.permitCount {
      let entry = Int(permit(index)) - Int(GS_PERMIT_HELD)
      if (0..<Self.entryCount).contains(entry) { held[entry, default: 0] += 1 }
    }
    return held
  }

  // MARK: The bell

  /// Must be read before the permits: a later ring then keeps the caller from sleeping.
  var bell: UInt32 {
    // SYNC ring/sleep: acquire side.
    memory.loadAcquiring32(at: Int(GS_AT_BELL))
  }

  func sleepForPermit(since bell: UInt32, stop: StopSignal?, until deadline: Deadline) {
    memory.sleep(while: Int(GS_AT_BELL), is: bell, stop: stop, until: deadline)
  }

  /// Announces that permits have become free.
  func ring(waking count: Int, _ onStep: OnStep) {
    // SYNC ring/sleep: release side, after the permits were freed.
    memory.add32(1, at: Int(GS_AT_BELL))
    onStep?(.bellRung)
    memory.wake(count, at: Int(GS_AT_BELL))
  }

  // MARK: Holder entries

  /// The offset of the byte whose lock shows that an entry's owner is alive.
  private static func offset(ofEntry entry: Int) -> Int { Int(GS_AT_PIDS) + entry * 4 }

  /// Locks an entry that is free or whose owner died.
  /// - Returns: false if its owner is alive and has the file open in another file description.
  func lockEntry(_ entry: Int) throws(SemaphoreError) -> Bool {
    do {
      return try descriptor.lockByte(Self.offset(ofEntry: entry))
    } catch {
      throw .system(error)
    }
  }

  func unlockEntry(_ entry: Int) { descriptor.unlockByte(Self.offset(ofEntry: entry)) }

  /// The process ID that an entry's owner wrote: unverified, for display only.
  func processID(ofEntry entry: Int) -> Int32 {
    // SYNC claim/show: acquire side.
    Int32(truncatingIfNeeded: memory.loadAcquiring32(at: Self.offset(ofEntry: entry)))
  }

  func setProcessID(_ processID: Int32, ofEntry entry: Int) {
    // SYNC claim/show: release side.
    memory.storeReleasing32(UInt32(bitPattern: processID), at: Self.offset(ofEntry: entry))
  }
}
