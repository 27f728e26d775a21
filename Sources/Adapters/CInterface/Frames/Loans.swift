import CFrameBus
import FrameBus
import Platform
import Synchronization

/// The loans of a publisher, each a part of this object.
///
/// The publisher's thread loans and publishes. When the stream has ended, loans can only be given
/// back, by any thread, and until then they keep the stream's memory.
@safe final class LoanOwner: Handled, @unchecked Sendable {
  // because one thread at a time uses the places until the publisher is closed, and then each
  // thread empties those of its loans under the lock

  static let kind = HandleKind.loan

  /// A place for a loan; its handle is valid while it has one.
  struct Place: ~Copyable {
    /// Of the loan's entry in the table of handles.
    var entry: Int
    var loan: FrameLoan?
  }

  /// SAFETY: `capacity` places, initialised in init, freed in deinit.
  private let places: UnsafeMutablePointer<Place>
  private let capacity: Int
  /// SAFETY: written by the thread that uses the publisher, so no check is made for each frame.
  @exclusivity(unchecked) private(set) var hasFinished = false
  private let table = HandleTable.shared
  /// Whether the publisher's handle was closed. Held while loans are given back, as they change
  /// what the stream's loans have in common.
  private let isClosed = Mutex(false)

  init(count capacity: Int) throws(CFailure) {
    self.capacity = capacity
    unsafe places = .allocate(capacity: capacity)
    for index in 0..<capacity { unsafe (places + index).initialize(to: Place(entry: 0)) }
    for index in 0..<capacity {
      unsafe places[index].entry = try HandleTable.shared.reserve(self, part: index)
    }
  }

  @inline(__always)
  var freePlace: Int? {
    for index in 0..<capacity where unsafe places[index].loan == nil { return index }
    return nil
  }

  @inline(__always)
  func enter(_ loan: consuming FrameLoan, at place: Int) -> OpaquePointer? {
    unsafe places[place].loan = consume loan
    return unsafe table.activate(places[place].entry, .loan)
  }

  /// The place of a loan whose handle is valid.
  @inline(__always)
  subscript(place: Int) -> Place {
    @inline(__always) unsafeAddress { unsafe UnsafePointer(places + place) }
    @inline(__always) unsafeMutableAddress { unsafe places + place }
  }

  var count: Int { (0..<capacity).count { index in unsafe places[index].loan != nil } }

  /// Ends the handle of a loan that was published.
  @inline(__always)
  func retire(_ place: Int) { table.retire(unsafe places[place].entry) }

  /// No loan is published from now on.
  func finish() { unsafe hasFinished = true }

  /// Abandons the loan of a handle that has ended.
  func giveBack(_ place: Int) {
    isClosed.withLock { isClosed in
      unsafe places[place].loan = nil
      if isClosed { HandleTable.shared.release(unsafe places[place].entry) }
    }
  }

  /// Frees the entries; those of loans that are out, when these are given back.
  func close() {
    isClosed.withLock { isClosed in
      isClosed = true
      for index in 0..<capacity where unsafe places[index].loan == nil {
        HandleTable.shared.release(unsafe places[index].entry)
      }
    }
  }

  deinit {
    unsafe places.deinitialize(count: capacity)
    unsafe places.deallocate()
  }
}

@c @implementation
public func framebus_loan_publish(
  _ loan: OpaquePointer!, _ metadata: UnsafePointer<framebus_metadata>!, _ byte_count: UInt64,
  _ sequence: UnsafeMutablePointer<UInt64>!, _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  // SAFETY: as of all pointers of C (CStructures.swift).
  unsafe attempt(error) { () throws(CFailure) in
    let found = try unsafe HandleTable.shared.look(loan, LoanOwner.self)
    let place = unsafe found.part
    return try unsafe found.with { loans throws(CFailure) in
      if unsafe loans.hasFinished {
        try unsafe giveBack(loan)
        return FRAMEBUS_FINISHED
      }
      let byteCount = byte_count == .max ? nil : Int(clamping: byte_count)
      if let byteCount, loans[place].loan?.admits(byteCount: byteCount) != true {
        throw .argument(
          "\(byteCount) bytes are not a frame of this format; pass FRAMEBUS_WHOLE, at least the "
            + "format's byte_count for a raw picture, else at most that and whole sample frames")
      }
      if let metadata = unsafe metadata {
        loans[place].loan?.metadata = try unsafe load(metadata, "metadata").metadata()
      }
      // Retired afterwards, so that subscribers do not wait for that.
      guard let published = loans[place].loan.take()?.publish(byteCount: byteCount) else {
        throw .argument("the loan has ended; take another one")
      }
      loans.retire(place)
      if let sequence = unsafe sequence { unsafe sequence.pointee = published.rawValue }
      return FRAMEBUS_OK
    }
  }
}

@c @implementation
public func framebus_loan_abandon(_ loan: OpaquePointer!) -> Int32 {
  // SAFETY: the handle is looked up, not dereferenced.
  attempt { () throws(CFailure) in
    try unsafe giveBack(loan)
    return FRAMEBUS_OK
  }
}

private func giveBack(_ loan: OpaquePointer?) throws(CFailure) {
  // SAFETY: the entry keeps the object while the loan is in its place.
  let found = try unsafe HandleTable.shared.deactivate(loan, LoanOwner.self)
  unsafe found.object.takeUnretainedValue().giveBack(found.part)
}
