import AppGroup
import CFrameBus
import FrameBus
import Platform

/// A subscriber of C, and its leases.
@safe final class SubscriberBox: Handled {
  static let kind = HandleKind.subscriber

  /// What one thread at a time uses.
  struct Part: ~Copyable {
    var subscriber: Subscriber
    var leases = LeaseLedger()
    var copied: CopiedFrame?
  }

  let events: EventCounts
  /// Behind a pointer to avoid checks of exclusive access for each frame.
  /// SAFETY: allocated and initialised in init, freed in deinit.
  private let storage = UnsafeMutablePointer<Part>.allocate(capacity: 1)

  init(_ subscriber: consuming Subscriber, _ events: EventCounts) {
    self.events = events
    unsafe storage.initialize(to: Part(subscriber: subscriber))
  }

  var part: Part {
    @inline(__always) unsafeAddress { unsafe UnsafePointer(storage) }
    @inline(__always) unsafeMutableAddress { unsafe storage }
  }

  deinit {
    unsafe storage.deinitialize(count: 1)
    unsafe storage.deallocate()
  }
}

/// What a subscriber has reported so far.
final class EventCounts: @unchecked Sendable {  // because the receiving thread alone uses it
  private(set) var evictions: UInt32 = 0
  private(set) var successors: UInt32 = 0
  private(set) var losslessHasEnded = false

  func note(_ event: StreamEvent) {
    switch event {
    case .evicted: evictions &+= 1
    case .publisherBack:
      successors &+= 1
      losslessHasEnded = false
    case .losslessEnded: losslessHasEnded = true
    case .publisherGone, .paused, .resumed, .annotated: break
    }
  }
}

extension framebus_subscriber_options {
  fileprivate func options(_ events: EventCounts) throws(CFailure) -> SubscriberOptions {
    let count = option(policy_count, default: 1)
    let policies: [SubscriberPolicy] = [
      .latest, .keepLatest(count),
      .lossless(
        deadline: .nanoseconds(option(lossless_limit_ns, default: 10_000_000_000))),
      .everyNth(count), .keyFrameAware,
    ]
    let starts: [StartingPoint] = [.newest, .next, .oldest, .keyFrame]
    guard policy < policies.count, start < starts.count, let wait = WaitKind(rawValue: wait),
      verifies_checksums <= 1
    else {
      throw .argument(
        "the options have policy \(policy), start \(start), wait \(self.wait) and "
          + "verifies_checksums \(verifies_checksums); use the constants of framebus.h")
    }
    var options = SubscriberOptions()
    options.policy = policies[Int(policy)]
    options.start = starts[Int(start)]
    options.wait = wait
    options.holds = option(leases, default: 1)
    options.verifiesChecksums = verifies_checksums == 1
    options.onEvent = { events.note($0) }
    return options
  }
}

@c @implementation
public func framebus_subscriber_open(
  _ group: OpaquePointer!, _ name: UnsafePointer<CChar>!,
  _ options: UnsafePointer<framebus_subscriber_options>!, _ deadline_ns: UInt64,
  _ stop: OpaquePointer!, _ subscriber: UnsafeMutablePointer<OpaquePointer?>!,
  _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  // SAFETY: as of all pointers of C (CStructures.swift).
  unsafe attempt(error) { () throws(CFailure) in
    try unsafe require(subscriber)
    let group = try unsafe HandleTable.shared.find(group, GroupBox.self).group
    let stop = try unsafe stopSignal(stop)
    let nameText = try unsafe text(name, "name")
    let stream = try StreamNameError.converted(try StreamName(nameText))
    let events = EventCounts()
    var given = framebus_subscriber_options()
    if let options = unsafe options { given = try unsafe load(options, "options") }
    let chosen = try given.options(events)
    let deadline = deadline_ns == 0 ? nil : Deadline(monotonicNs: deadline_ns)
    let made: Subscriber
    do throws(SubscriberError) {
      made = try Subscriber(
        stream, in: group, options: chosen, waitingForPublisherUntil: deadline, stop: stop)
    } catch {
      if case .stopped = error { return FRAMEBUS_STOPPED }
      throw CFailure(error)
    }
    try unsafe set(subscriber, SubscriberBox(made, events))
    return FRAMEBUS_OK
  }
}

@c @implementation
public func framebus_subscriber_close(_ subscriber: OpaquePointer!) -> Int32 {
  // SAFETY: the handle is looked up, not dereferenced.
  attempt { () throws(CFailure) in
    _ = try unsafe HandleTable.shared.remove(subscriber, SubscriberBox.self)
    return FRAMEBUS_OK
  }
}

@c @implementation
public func framebus_subscriber_descriptor(_ subscriber: OpaquePointer!) -> Int32 {
  // SAFETY: the handle is looked up, not dereferenced.
  attempt { () throws(CFailure) in
    let box = try unsafe HandleTable.shared.find(subscriber, SubscriberBox.self)
    guard let number = box.part.subscriber.eventDescriptor else {
      throw .argument("the subscriber has no descriptor; open it with FRAMEBUS_WAIT_DESCRIPTOR")
    }
    return Int(number)
  }
}

@c @implementation
public func framebus_subscriber_next(
  _ subscriber: OpaquePointer!, _ deadline_ns: UInt64, _ stop: OpaquePointer!,
  _ frame: UnsafeMutablePointer<framebus_frame>!, _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  // SAFETY: as of all pointers of C (CStructures.swift). The frame's bytes stay while its lease is
  // held, which its handle tells.
  unsafe usingUnretained(subscriber, SubscriberBox.self, error) { box throws(CFailure) in
    let stop = try unsafe stopSignal(stop)
    try unsafe require(frame, "frame")
    let place = unsafe try box.part.leases.freePlace()
    // A poll reads no clock.
    if deadline_ns == 0 {
      guard let lease = try ReceiveError.converted(try box.part.subscriber.poll()) else {
        if box.part.subscriber.finishReason != nil { return FRAMEBUS_FINISHED }
        return stop?.isRaised == true ? FRAMEBUS_STOPPED : FRAMEBUS_TIMED_OUT
      }
      return try unsafe deliver(lease, at: place, into: frame)
    }
    switch try ReceiveError.converted(
      try box.part.subscriber.next(until: Deadline(monotonicNs: deadline_ns), stop: stop))
    {
    case .frame(let lease): return try unsafe deliver(lease, at: place, into: frame)
    case .timedOut: return FRAMEBUS_TIMED_OUT
    case .stopped: return FRAMEBUS_STOPPED
    case .finished: return FRAMEBUS_FINISHED
    }
  }
}

/// Describes a received frame to C, which holds its lease from now on.
@inline(__always)
private func deliver(
  _ lease: consuming FrameLease, at place: Unmanaged<LeaseBox>,
  into frame: UnsafeMutablePointer<framebus_frame>?
) throws(CFailure) -> Int {
  // SAFETY: as of all pointers of C (CStructures.swift).
  var filled = unsafe framebus_frame(lease)
  var filling = Optional(lease)
  unsafe place._withUnsafeGuaranteedRef { place in
    if let lease = filling.take() { unsafe filled.lease = place.fill(lease) }
  }
  try unsafe store(filled, into: frame)
  return FRAMEBUS_OK
}

extension framebus_frame {
  @inline(__always)
  fileprivate init(_ lease: borrowing FrameLease) {
    let checksum = lease.checksum
    // SAFETY: the caller keeps the lease as long as C uses the bytes.
    unsafe self.init(
      size: 0, lease: nil, bytes: lease.withUnsafeBytes { $0.baseAddress },
      byte_count: UInt64(lease.byteCount), sequence: lease.sequence.rawValue,
      generation: lease.generation, format_epoch: lease.formatEpoch,
      dropped_before: lease.droppedBefore, pts_ns: lease.ptsNs,
      captured_at_ns: lease.capturedAtNs, published_at_ns: lease.publishedAtNs,
      flags: lease.flags.rawValue, checksum: checksum ?? 0, has_checksum: checksum == nil ? 0 : 1,
      reserved: 0)
  }
}

@c @implementation
public func framebus_subscriber_copy_next(
  _ subscriber: OpaquePointer!, _ buffer: UnsafeMutableRawPointer!, _ capacity: Int,
  _ frame: UnsafeMutablePointer<framebus_frame>!, _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  // SAFETY: as of all pointers of C (CStructures.swift); the buffer has `capacity` bytes.
  unsafe attempt(error) { () throws(CFailure) in
    let box = try unsafe HandleTable.shared.find(subscriber, SubscriberBox.self)
    try unsafe require(frame, "frame")
    guard let buffer = unsafe buffer, capacity >= 0 else {
      throw .argument("buffer is NULL; pass the address of one")
    }
    var span = unsafe MutableRawSpan(_unsafeStart: buffer, byteCount: capacity)
    do throws(ReceiveError) {
      guard let copied = try box.part.subscriber.copyNext(into: &span) else {
        return box.part.subscriber.finishReason == nil ? FRAMEBUS_TIMED_OUT : FRAMEBUS_FINISHED
      }
      box.part.copied = copied
      try? unsafe store(unsafe framebus_frame(copied, in: buffer), into: frame)
      return FRAMEBUS_OK
    } catch {
      if case .bufferTooSmall(let frameBytes) = error {
        var filled = unsafe framebus_frame()
        unsafe filled.byte_count = UInt64(frameBytes)
        try? unsafe store(filled, into: frame)
      }
      throw CFailure(error)
    }
  }
}

extension framebus_frame {
  fileprivate init(_ copied: CopiedFrame, in buffer: UnsafeMutableRawPointer) {
    // SAFETY: the caller's buffer.
    unsafe self.init(
      size: 0, lease: nil, bytes: UnsafeRawPointer(buffer), byte_count: UInt64(copied.byteCount),
      sequence: copied.sequence.rawValue, generation: copied.generation,
      format_epoch: copied.formatEpoch, dropped_before: copied.droppedBefore,
      pts_ns: copied.metadata.ptsNs, captured_at_ns: copied.metadata.capturedAtNs,
      published_at_ns: copied.publishedAtNs, flags: copied.metadata.flags.rawValue,
      checksum: copied.checksum ?? 0, has_checksum: copied.checksum == nil ? 0 : 1, reserved: 0)
  }
}

@c @implementation
public func framebus_subscriber_copied_format(
  _ subscriber: OpaquePointer!, _ format: UnsafeMutablePointer<framebus_format>!,
  _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  // SAFETY: as of all pointers of C (CStructures.swift).
  unsafe attempt(error) { () throws(CFailure) in
    let box = try unsafe HandleTable.shared.find(subscriber, SubscriberBox.self)
    try unsafe require(format, "format")
    guard let copied = box.part.copied else {
      throw CFailure(
        FRAMEBUS_ERROR_NOT_FOUND, "no frame was copied yet; call framebus_subscriber_copy_next")
    }
    try unsafe store(framebus_format(copied.format), into: format)
    return FRAMEBUS_OK
  }
}

// MARK: - Leases

@c @implementation
public func framebus_lease_release(_ lease: OpaquePointer!) -> Int32 {
  // SAFETY: the handle is looked up, not dereferenced.
  attempt { () throws(CFailure) in
    let found = try unsafe HandleTable.shared.deactivate(lease, LeaseBox.self)
    unsafe found.object._withUnsafeGuaranteedRef { $0.empty() }
    return FRAMEBUS_OK
  }
}

@c @implementation
public func framebus_lease_format(
  _ lease: OpaquePointer!, _ format: UnsafeMutablePointer<framebus_format>!,
  _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  // SAFETY: as of all pointers of C (CStructures.swift).
  unsafe attempt(error) { () throws(CFailure) in
    let box = try unsafe HandleTable.shared.find(lease, LeaseBox.self)
    try unsafe require(format, "format")
    try unsafe store(framebus_format(box.format), into: format)
    return FRAMEBUS_OK
  }
}

@c @implementation
public func framebus_lease_metadata(
  _ lease: OpaquePointer!, _ metadata: UnsafeMutablePointer<framebus_metadata>!,
  _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  // SAFETY: as of all pointers of C (CStructures.swift); nobody releases the lease meanwhile.
  unsafe usingUnretained(lease, LeaseBox.self, error) { box throws(CFailure) in
    try unsafe require(metadata, "metadata")
    try unsafe store(box.metadata, into: metadata)
    return FRAMEBUS_OK
  }
}
