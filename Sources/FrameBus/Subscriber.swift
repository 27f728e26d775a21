import AppGroup
import CFrameLayout
import Platform

/// What waiting for a frame came to.
public enum Reception: ~Copyable, Sendable {
  case frame(FrameLease)
  case timedOut
  case stopped
  /// The publisher ended the stream, and everything it published was offered.
  case finished(FinishReason)
}

/// One reader of a stream. It never slows the publisher or other subscribers, unless the publisher
/// granted it lossless delivery.
///
/// When the publisher dies, the subscriber keeps waiting and attaches to its successor by itself;
/// `SubscriberOptions.onEvent` tells. Only a publisher that finishes ends the stream.
public struct Subscriber: ~Copyable, Sendable {
  let options: SubscriberOptions
  let doorbell: Doorbell
  private let rendezvous: Rendezvous
  /// While there is no publisher: rings when something appears in the streams' directory. A user
  /// may have few of these (inotify(7)), so none is kept for longer.
  private var watch: DirectoryWatch?

  var attachment: Attachment?
  private var ending: FinishReason?
  /// The last sequence number received or given up, in the attachment's generation.
  var position: UInt64 = 0
  /// Drops of the generation since the last frame handed out.
  private var droppedSince: UInt64 = 0
  private var losslessEndSeen = false
  /// Whether wake-ups of this attachment were lost on the way.
  var futexCannotBeTrusted = false

  /// Frames received, of all generations.
  public private(set) var receivedCount: UInt64 = 0
  /// Frames this subscriber will never see, of all generations.
  public private(set) var droppedCount: UInt64 = 0

  /// How willing `next` is to spin before it sleeps, learnt from how long frames took to come.
  var spin = SpinBudget()

  /// Attaches to a stream.
  /// - Parameter deadline: how long to wait for a publisher; by default it must be there.
  /// - Throws: ``SubscriberError/noSuchStream(_:)`` when there is none, and what a publisher
  ///   refuses for.
  public init(
    _ stream: StreamName, in group: AppGroup, options: SubscriberOptions = SubscriberOptions(),
    waitingForPublisherUntil deadline: Deadline = .now, stop: StopSignal? = nil
  ) throws(SubscriberError) {
    try options.check()
    let rendezvous = Rendezvous(stream: stream, group: group, hello: options.hello)
    let doorbell = Doorbell()
    let attachment = try rendezvous.attach(
      doorbell: doorbell, until: deadline, retryInterval: Self.retryInterval, stop: stop)
    self.options = options
    self.rendezvous = rendezvous
    self.doorbell = doorbell
    attach(to: attachment)
  }

  /// How often a publisher is looked for that announced itself in no way we can see.
  static let retryInterval: Duration = .milliseconds(500)

  /// The stream's generation, the number of its current publisher; nil while there is none.
  public var generation: UInt64? { attachment?.generation }
  /// How many leases can be held at once now.
  public var grantedHolds: Int { attachment?.grantedHolds ?? 0 }

  // MARK: Receiving

  /// What one look at the stream found.
  enum Step {
    /// A frame is pinned: `lease` makes a lease of it.
    case frame(hold: Int)
    case finished(FinishReason)
    /// Nothing new; sleep until the cursor moves or the bell rings.
    case nothing
    /// A frame lies in memory that has yet to arrive, or there is no publisher: the bell will ring.
    case awaitBell
  }

  /// Receives a frame if one is to be had now. Never blocks while the publisher lives; attaching to
  /// its successor takes until that answers, ten seconds at most.
  /// - Returns: nil when there is nothing new.
  /// - Complexity: O(1), without system calls, while the publisher lives.
  public mutating func poll() throws(ReceiveError) -> FrameLease? {
    guard case .frame(let hold) = try step() else { return nil }
    return lease(hold)
  }

  /// The lease of the frame that `step` has just pinned.
  @inline(__always)
  func lease(_ hold: Int) -> FrameLease {
    guard let attachment else { preconditionFailure("a frame is pinned without an attachment") }
    return FrameLease(attachment, hold: hold)
  }

  mutating func step() throws(ReceiveError) -> Step {
    if let ending { return .finished(ending) }
    guard let attachment else { return try reattach() }
    // Asked before looking, so that what was published before the end is not overlooked.
    let isGone = attachment.isGone
    let reason = attachment.finishReason
    if attachment.cursor > position {
      let step = try receive(from: attachment)
      if case .frame = step { return step }
      if case .awaitBell = step, !isGone { return step }
    }
    if let reason {
      ending = reason
      return .finished(reason)
    }
    guard isGone else { return .nothing }
    self.attachment = nil
    crashPoint(.detached)
    options.onEvent?(.publisherGone)
    return try reattach()
  }

  /// Looks for a successor, once.
  private mutating func reattach() throws(ReceiveError) -> Step {
    // Before looking, so that a successor who comes right after is not overlooked.
    if watch == nil { watch = rendezvous.watchForPublishers(doorbell) }
    do throws(SubscriberError) {
      attach(to: try rendezvous.attach(doorbell: doorbell, stop: nil))
      if let generation { options.onEvent?(.publisherBack(generation: generation)) }
      return .nothing
    } catch {
      if error.mayPass { return .awaitBell }
      switch error {
      case .refused(let stream, let refusal): throw .refused(stream, refusal)
      case .untrusted(let stream, let why): throw .untrusted(stream, why)
      case .system(let error): throw .system(error)
      default: return .awaitBell
      }
    }
  }

  private mutating func attach(to attachment: Attachment) {
    self.attachment = attachment
    watch = nil
    droppedSince = 0
    losslessEndSeen = false
    futexCannotBeTrusted = false
    let first = attachment.firstCursor
    switch options.start {
    case .next: position = first
    case .newest: position = first > 0 ? first - 1 : 0
    case .oldest:
      let depth = UInt64(attachment.ringDepth)
      position = first > depth ? first - depth : 0
    }
    advance(attachment)
  }

  private mutating func receive(from attachment: Attachment) throws(ReceiveError) -> Step {
    // What could not be pinned will never be again, though the cursor does not show it until its
    // successor is published. A publisher that stopped or died in between must not keep us from
    // the frames that still stand.
    var overwritten = position
    // The publisher may lap us between choosing a frame and pinning it; not for ever.
    for _ in 0..<64 {
      let cursor = attachment.cursor
      // Frames that were passed over move the position too.
      let last = max(position, overwritten)
      guard let sequence = choose(cursor, after: last, attachment) else { return .nothing }
      guard let hold = attachment.takeHold() else {
        throw .holdsExhausted(granted: attachment.grantedHolds)
      }
      guard attachment.pin(sequence, with: hold) else {
        attachment.release(hold)
        overwritten = sequence
        continue
      }
      let outcome: Step
      do throws(ReceiveError) {
        outcome = try unwrap(hold, attachment)
      } catch {
        attachment.release(hold)
        throw error
      }
      if case .frame = outcome { return outcome }
      attachment.release(hold)
      if case .awaitBell = outcome { return outcome }
    }
    return .nothing
  }

  /// The frame to receive next, or nil if there is none yet.
  private func choose(
    _ cursor: UInt64, after last: UInt64, _ attachment: Attachment
  ) -> UInt64? {
    // A cursor behind us is a publisher that breaks the protocol: to us nothing is new.
    guard cursor > last else { return nil }
    let depth = UInt64(attachment.ringDepth)
    let oldest = cursor > depth ? cursor - depth + 1 : 1
    switch options.policy {
    case .latest: return cursor
    case .keepLatest(let count):
      let kept = cursor > UInt64(count) ? cursor - UInt64(count) + 1 : 1
      return max(last + 1, oldest, kept)
    case .lossless: return max(last + 1, oldest)
    }
  }

  /// Checks what a pinned frame's descriptor says against our own mappings, and counts the frame.
  /// `.nothing` means that it was passed over; the hold is still the caller's unless a frame is
  /// returned.
  private mutating func unwrap(_ hold: Int, _ attachment: Attachment) throws(ReceiveError) -> Step {
    let sequence = attachment.pins[hold].descriptor.sequence
    let generation = attachment.pins[hold].descriptor.pool_generation
    if attachment.pins[hold].poolGeneration != generation || generation == 0 {
      guard let found = attachment.pool(generation) else {
        if attachment.awaitsPool(generation) { return .awaitBell }
        // A frame in memory from before we came.
        skip(to: sequence, attachment)
        return .nothing
      }
      attachment.pins[hold].pool = found
      attachment.forgetPools(otherThan: generation)
    }
    let payloadBytes = attachment.pins[hold].descriptor.payload_bytes
    guard attachment.pins[hold].descriptor.slot < attachment.pins[hold].slotCount,
      payloadBytes <= UInt64(attachment.pins[hold].slotBytes)
    else { throw .untrusted(attachment.stream, "a frame does not lie in its pool") }
    let epoch = attachment.pins[hold].descriptor.format_epoch
    if attachment.pins[hold].formatEpoch != epoch || epoch == 0 {
      switch attachment.format(epoch: epoch, of: sequence) {
      case .lapped: return .nothing
      case .malformed: throw .untrusted(attachment.stream, "a frame's format is malformed")
      case .found(let format):
        attachment.pins[hold].format = format
        attachment.pins[hold].formatEpoch = epoch
      }
    }
    guard attachment.pins[hold].leastPayloadBytes <= payloadBytes
    else { throw .untrusted(attachment.stream, "a frame is shorter than its format") }

    // Statistics wrap where a hostile publisher's numbers are too large to add up.
    let dropped = droppedSince &+ (sequence - position - 1)
    count(drops: sequence - position - 1, attachment)
    droppedSince = 0
    position = sequence
    receivedCount += 1
    advance(attachment)
    attachment.pins[hold].droppedBefore = dropped
    return .frame(hold: hold)
  }

  private mutating func skip(to sequence: UInt64, _ attachment: Attachment) {
    count(drops: sequence - position, attachment)
    droppedSince &+= sequence - position
    position = sequence
    advance(attachment)
  }

  private mutating func count(drops dropped: UInt64, _ attachment: Attachment) {
    guard dropped > 0 else { return }
    droppedCount &+= dropped
    if options.policy.isLossless, !losslessEndSeen, attachment.losslessHasEnded {
      losslessEndSeen = true
      options.onEvent?(.losslessEnded)
    }
  }

  private func advance(_ attachment: Attachment) {
    attachment.advance(
      to: position, received: receivedCount, dropped: droppedCount,
      isLossless: options.policy.isLossless)
  }
}
