import AppGroup
import CFrameBus
import FrameBus
import Platform

/// A publisher of C, and its loans. One thread at a time uses it.
@safe final class PublisherBox: Handled {
  static let kind = HandleKind.publisher

  /// Nil when the stream has ended.
  var publisher: Publisher? {
    @inline(__always) unsafeAddress { unsafe UnsafePointer(storage) }
    @inline(__always) unsafeMutableAddress { unsafe storage }
  }
  /// Readable after a subscriber came or left.
  let subscriberEvents: EventCounter
  /// Owns the entries of the loans.
  let loans: LoanOwner
  private var loanWait: WaitThread?
  /// Of a stream that has ended: its mappings, which callers use until the handle is closed.
  private var memory: (AnyObject & Sendable)?
  private(set) var finalCounts = (published: UInt64(0), joins: UInt64(0))
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

  /// Ends the stream, if it has not ended.
  func finish(_ reason: FinishReason?) {
    loans.finish()
    // Before the stream's own thread ends, which the wait may need.
    loanWait?.end()
    guard let ended = publisher.take() else { return }
    memory = ended.memory
    finalCounts = (ended.publishedCount, ended.joinCount)
    if let reason { ended.finish(reason) }
  }

  /// A descriptor that shows when a loan may succeed.
  func loanDescriptor() throws(CFailure) -> Int32 {
    if let loanWait { return loanWait.descriptor }
    guard let wait = publisher?.loanWait else {
      throw .argument("the stream has ended; make the descriptor before")
    }
    let made = try WaitThread(named: "framebus-loan") { wait.wait(stop: $0) }
    loanWait = made
    return made.descriptor
  }

  /// Has the descriptor show when a loan may succeed, after one that failed.
  fileprivate func armLoanWait() {
    guard let loanWait else { return }
    publisher?.requestLoan()
    loanWait.arm()
  }

  deinit {
    finish(nil)
    loans.close()
    unsafe storage.deinitialize(count: 1)
    unsafe storage.deallocate()
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
    let finish = try finishReason(reason)
    // Its loans keep what they need of it.
    try unsafe HandleTable.shared.remove(publisher, PublisherBox.self).finish(finish)
    return FRAMEBUS_OK
  }
}

@c @implementation
public func framebus_publisher_finish(
  _ publisher: OpaquePointer!, _ reason: UInt32, _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  // SAFETY: as of all pointers of C (CStructures.swift).
  unsafe attempt(error) { () throws(CFailure) in
    let box = try unsafe HandleTable.shared.find(publisher, PublisherBox.self)
    let finish = try finishReason(reason)
    guard box.publisher != nil else { return FRAMEBUS_FINISHED }
    box.finish(finish)
    return FRAMEBUS_OK
  }
}

/// The reason that C passes; nil for none.
private func finishReason(_ reason: UInt32) throws(CFailure) -> FinishReason? {
  if reason == UInt32(FRAMEBUS_END_NONE) { return nil }
  guard let reason = FinishReason(rawValue: reason) else {
    throw .argument("the reason \(reason) is unknown; use FRAMEBUS_END_NONE to _FAILED")
  }
  return reason
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
    guard box.publisher != nil else { return FRAMEBUS_FINISHED }
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
      guard let made = try box.loan(until: deadline_ns, stop) else { return FRAMEBUS_FINISHED }
      loan = made
    } catch let failure {
      switch failure {
      case .backpressure(let subscriber, let lagFrames):
        box.armLoanWait()
        return unsafe reportBackpressure(subscriber, lagFrames, into: error)
      case .timedOut:
        box.armLoanWait()
        return FRAMEBUS_TIMED_OUT
      case .stopped: return FRAMEBUS_STOPPED
      default: throw CFailure(failure)
      }
    }
    guard let place = box.loans.freePlace else {
      throw .argument("all loans are out; publish one first")
    }
    var bytes = loan.bytes
    let start = unsafe bytes.withUnsafeMutableBytes { $0.baseAddress }
    let capacity = UInt64(loan.byteCapacity)
    let handle = unsafe box.loans.enter(loan, at: place)
    try unsafe store(
      framebus_slot(size: 0, loan: handle, bytes: start, capacity: capacity), into: slot)
    return FRAMEBUS_OK
  }
}

extension PublisherBox {
  /// - Returns: nil if the stream has ended.
  @inline(__always)
  fileprivate func loan(
    until deadlineNs: UInt64, _ stop: StopSignal?
  ) throws(LoanError) -> FrameLoan? {
    if deadlineNs == 0 { return try publisher?.loan() }
    return try publisher?.loan(waitingUntil: Deadline(monotonicNs: deadlineNs), stop: stop)
  }
}

@c @implementation
public func framebus_publisher_loan_descriptor(
  _ publisher: OpaquePointer!, _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  // SAFETY: as of all pointers of C (CStructures.swift).
  unsafe attempt(error) { () throws(CFailure) in
    Int(try unsafe HandleTable.shared.find(publisher, PublisherBox.self).loanDescriptor())
  }
}
