import AppGroup
import CFrameBus
import FrameBus
import Platform

/// A publisher of C, and its loans. One thread at a time uses it.
@safe final class PublisherBox: Handled {
  static let kind = HandleKind.publisher

  /// A place for a loan; its handle is valid while it has one.
  struct Place: ~Copyable {
    /// Of the loan's entry in the table of handles.
    var entry: Int
    var loan: FrameLoan?
  }

  var publisher: Publisher? {
    @inline(__always) unsafeAddress { unsafe UnsafePointer(storage) }
    @inline(__always) unsafeMutableAddress { unsafe storage }
  }
  /// Readable after a subscriber came or left.
  let subscriberEvents: EventCounter
  /// Owns the entries of the loans.
  private let loans: LoanOwner
  /// Behind a pointer to avoid checks of exclusive access for each frame.
  /// SAFETY: allocated and initialised in init, freed in deinit.
  private let storage = UnsafeMutablePointer<Publisher?>.allocate(capacity: 1)

  init(_ publisher: consuming Publisher, loans count: Int) throws(CFailure) {
    unsafe storage.initialize(to: nil)
    subscriberEvents = try SystemError.converted(try EventCounter())
    loans = try LoanOwner(count: count)
    publisher.observeSubscribers(with: subscriberEvents)
    unsafe storage.pointee = consume publisher
  }

  /// Abandons the loans, then ends the stream.
  func close(_ reason: FinishReason?) {
    loans.end()
    let ended = publisher.take()
    if let reason { ended?.finish(reason) }
  }

  @inline(__always)
  fileprivate var freePlace: Int? { loans.freePlace }
  @inline(__always)
  fileprivate func enter(_ loan: consuming FrameLoan, at place: Int) -> OpaquePointer? {
    unsafe loans.enter(loan, at: place)
  }

  var loanCount: Int { loans.count }

  deinit {
    loans.end()
    unsafe storage.deinitialize(count: 1)
    unsafe storage.deallocate()
  }
}

/// The loans of a publisher, each a part of this object.
@safe final class LoanOwner: Handled {
  static let kind = HandleKind.loan

  /// SAFETY: `capacity` places, initialised in init, freed in deinit.
  private let places: UnsafeMutablePointer<PublisherBox.Place>
  private let capacity: Int
  private var hasEnded = false

  fileprivate init(count capacity: Int) throws(CFailure) {
    self.capacity = capacity
    unsafe places = .allocate(capacity: capacity)
    for index in 0..<capacity {
      unsafe (places + index).initialize(to: PublisherBox.Place(entry: 0))
    }
    for index in 0..<capacity {
      unsafe places[index].entry = try HandleTable.shared.reserve(self, part: index)
    }
  }

  @inline(__always)
  fileprivate var freePlace: Int? {
    for index in 0..<capacity where unsafe places[index].loan == nil { return index }
    return nil
  }

  @inline(__always)
  fileprivate func enter(_ loan: consuming FrameLoan, at place: Int) -> OpaquePointer? {
    unsafe places[place].loan = consume loan
    return unsafe HandleTable.shared.activate(places[place].entry, .loan)
  }

  /// The place of a loan whose handle is valid.
  @inline(__always)
  subscript(place: Int) -> PublisherBox.Place {
    @inline(__always) unsafeAddress { unsafe UnsafePointer(places + place) }
    @inline(__always) unsafeMutableAddress { unsafe places + place }
  }

  fileprivate var count: Int {
    (0..<capacity).count { index in unsafe places[index].loan != nil }
  }

  /// Abandons all loans and ends their handles.
  fileprivate func end() {
    if hasEnded { return }
    hasEnded = true
    for index in 0..<capacity {
      unsafe places[index].loan = nil
      HandleTable.shared.release(unsafe places[index].entry)
    }
  }

  deinit {
    unsafe places.deinitialize(count: capacity)
    unsafe places.deallocate()
  }
}

extension framebus_publisher_options {
  fileprivate func options() throws(CFailure) -> PublisherOptions {
    guard let content = StreamContent(rawValue: content), allows_lossless <= 1, checksums <= 1,
      reserved == 0
    else {
      throw .argument(
        "of the options, content is at most FRAMEBUS_CONTENT_WINDOW, allows_lossless and "
          + "checksums are 0 or 1, and reserved is 0")
    }
    var options = PublisherOptions()
    options.content = content
    options.ringDepth = option(ring_depth, default: options.ringDepth)
    options.slotBytes = slot_bytes == 0 ? nil : Int(clamping: slot_bytes)
    options.poolBytes = option(pool_bytes, default: options.poolBytes)
    options.maxLoans = option(maximum_loans, default: options.maxLoans)
    options.holdQuota = option(hold_quota, default: options.holdQuota)
    options.seatsPerUser = option(seats_per_user, default: options.seatsPerUser)
    options.allowsLossless = allows_lossless == 1
    options.checksums = checksums == 1
    return options
  }
}

@c @implementation
public func framebus_publisher_open(
  _ group: OpaquePointer!, _ name: UnsafePointer<CChar>!,
  _ format: UnsafePointer<framebus_format>!,
  _ options: UnsafePointer<framebus_publisher_options>!,
  _ publisher: UnsafeMutablePointer<OpaquePointer?>!,
  _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  // SAFETY: as of all pointers of C (CStructures.swift).
  unsafe attempt(error) { () throws(CFailure) in
    try unsafe require(publisher)
    let group = try unsafe HandleTable.shared.find(group, GroupBox.self).group
    let nameText = try unsafe text(name, "name")
    let stream = try StreamNameError.converted(try StreamName(nameText))
    let format = try unsafe load(format, "format").format()
    var chosen = PublisherOptions()
    if let options = unsafe options { chosen = try unsafe load(options, "options").options() }
    let made = try PublisherError.converted(
      try Publisher(stream, in: group, format: format, options: chosen))
    try unsafe set(publisher, PublisherBox(made, loans: chosen.maxLoans))
    return FRAMEBUS_OK
  }
}

@c @implementation
public func framebus_publisher_close(
  _ publisher: OpaquePointer!, _ reason: UInt32, _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  // SAFETY: as of all pointers of C (CStructures.swift).
  unsafe attempt(error) { () throws(CFailure) in
    let finish = FinishReason(rawValue: reason)
    guard finish != nil || reason == UInt32(FRAMEBUS_END_NONE) else {
      throw .argument("the reason \(reason) is unknown; use FRAMEBUS_END_NONE to _FAILED")
    }
    try unsafe HandleTable.shared.remove(publisher, PublisherBox.self).close(finish)
    return FRAMEBUS_OK
  }
}

@c @implementation
public func framebus_publisher_set_format(
  _ publisher: OpaquePointer!, _ format: UnsafePointer<framebus_format>!,
  _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  // SAFETY: as of all pointers of C (CStructures.swift).
  unsafe attempt(error) { () throws(CFailure) in
    let box = try unsafe HandleTable.shared.find(publisher, PublisherBox.self)
    let format = try unsafe load(format, "format").format()
    try PublisherError.converted(try box.publisher?.setFormat(format))
    return FRAMEBUS_OK
  }
}

@c @implementation
public func framebus_publisher_loan(
  _ publisher: OpaquePointer!, _ deadline_ns: UInt64, _ stop: OpaquePointer!,
  _ slot: UnsafeMutablePointer<framebus_slot>!, _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  // SAFETY: as of all pointers of C (CStructures.swift). The slot's memory stays while the loan is
  // out, which its handle tells.
  unsafe usingUnretained(publisher, PublisherBox.self, error) { box throws(CFailure) in
    let stop = try unsafe stopSignal(stop)
    try unsafe require(slot, "slot")
    var loan: FrameLoan
    do throws(LoanError) {
      guard let made = try box.loan(until: deadline_ns, stop) else { throw .paused }
      loan = made
    } catch {
      switch error {
      case .timedOut: return FRAMEBUS_TIMED_OUT
      case .stopped: return FRAMEBUS_STOPPED
      default: throw CFailure(error)
      }
    }
    guard let place = box.freePlace else {
      throw .argument("all loans are out; publish one first")
    }
    var bytes = loan.bytes
    let start = unsafe bytes.withUnsafeMutableBytes { $0.baseAddress }
    let capacity = UInt64(loan.byteCapacity)
    let handle = unsafe box.enter(loan, at: place)
    try unsafe store(
      framebus_slot(size: 0, loan: handle, bytes: start, capacity: capacity), into: slot)
    return FRAMEBUS_OK
  }
}

extension PublisherBox {
  /// - Returns: nil if the publisher was closed.
  @inline(__always)
  fileprivate func loan(
    until deadlineNs: UInt64, _ stop: StopSignal?
  ) throws(LoanError) -> FrameLoan? {
    if deadlineNs == 0 { return try publisher?.loan() }
    return try publisher?.loan(waitingUntil: Deadline(monotonicNs: deadlineNs), stop: stop)
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
      HandleTable.shared.retire(loans[place].entry)
      if let sequence = unsafe sequence { unsafe sequence.pointee = published.rawValue }
      return FRAMEBUS_OK
    }
  }
}

@c @implementation
public func framebus_loan_abandon(_ loan: OpaquePointer!) -> Int32 {
  // SAFETY: the handle is looked up, not dereferenced.
  attempt { () throws(CFailure) in
    let found = try unsafe HandleTable.shared.deactivate(loan, LoanOwner.self)
    let place = unsafe found.part
    unsafe found.object._withUnsafeGuaranteedRef { $0[place].loan = nil }
    return FRAMEBUS_OK
  }
}
