import AppGroup
import CFrameBus
import FrameBus
import Platform

/// A publisher of C, and its loans.
final class PublisherBox: Handled {
  static let kind = HandleKind.publisher

  var publisher: Publisher?
  /// Readable after a subscriber came or left.
  let subscriberEvents: EventCounter
  fileprivate var loans: [LoanBox] = []

  init(_ publisher: consuming Publisher, loans count: Int) throws(CFailure) {
    subscriberEvents = try SystemError.converted(try EventCounter())
    publisher.observeSubscribers(with: subscriberEvents)
    self.publisher = consume publisher
    for _ in 0..<count {
      let loan = LoanBox()
      loan.index = try HandleTable.shared.reserve(loan)
      loans.append(loan)
    }
  }

  /// Abandons the loans, then ends the stream.
  func close(_ reason: FinishReason?) {
    for loan in loans {
      HandleTable.shared.release(loan.index)
      loan.loan = nil
    }
    loans = []
    let ended = publisher.take()
    if let reason { ended?.finish(reason) }
  }

  fileprivate var freeLoan: LoanBox? { loans.first { $0.loan == nil } }
  var loanCount: Int { loans.count { $0.loan != nil } }

  // A publisher that could not be made has reserved entries.
  deinit { for loan in loans { HandleTable.shared.release(loan.index) } }
}

/// A place for one loan; its handle is valid while it has one.
final class LoanBox: Handled {
  static let kind = HandleKind.loan

  fileprivate var loan: FrameLoan?
  fileprivate var index = 0
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
    let made = try PublisherError.converted(try Publisher(stream, in: group, format: format, options: chosen))
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
  unsafe attempt(error) { () throws(CFailure) in
    let box = try unsafe HandleTable.shared.find(publisher, PublisherBox.self)
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
    guard let place = box.freeLoan else { throw .argument("a loan has no place") }
    var bytes = loan.bytes
    let start = unsafe bytes.withUnsafeMutableBytes { $0.baseAddress }
    let capacity = UInt64(loan.byteCapacity)
    place.loan = consume loan
    let handle = unsafe HandleTable.shared.activate(place.index, .loan)
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
    let box = try unsafe HandleTable.shared.find(loan, LoanBox.self)
    let byteCount = byte_count == .max ? nil : Int(clamping: byte_count)
    if let byteCount, box.loan?.admits(byteCount: byteCount) != true {
      throw .argument(
        "\(byteCount) bytes are not a frame of this format; pass FRAMEBUS_WHOLE, at least the "
          + "format's byte_count for a raw picture, and at most that and whole sample frames else")
    }
    if let metadata = unsafe metadata {
      box.loan?.metadata = try unsafe load(metadata, "metadata").metadata()
    }
    _ = try unsafe HandleTable.shared.deactivate(loan, LoanBox.self)
    guard let published = box.loan.take()?.publish(byteCount: byteCount) else {
      throw .argument("the loan has ended")
    }
    if let sequence = unsafe sequence { unsafe sequence.pointee = published.rawValue }
    return FRAMEBUS_OK
  }
}

@c @implementation
public func framebus_loan_abandon(_ loan: OpaquePointer!) -> Int32 {
  // SAFETY: the handle is looked up, not dereferenced.
  attempt { () throws(CFailure) in
    try unsafe HandleTable.shared.deactivate(loan, LoanBox.self).loan = nil
    return FRAMEBUS_OK
  }
}
