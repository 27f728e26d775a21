import AppGroup
import CFrameLayout
import Platform

/// The result of waiting for a frame.
public enum Reception: ~Copyable, Sendable {
  /// The frame, which stays valid as long as its lease exists.
  case frame(FrameLease)
  /// The deadline has passed.
  case timedOut
  /// The stop signal was raised, or the task was cancelled.
  case stopped
  /// The publisher ended the stream, and all of its frames were offered.
  case finished(FinishReason)
}

/// One reader of a stream. It never slows the publisher or other subscribers, unless the publisher
/// granted it lossless delivery.
///
/// When the publisher dies, the subscriber keeps waiting and attaches to its successor
/// automatically; `SubscriberOptions.onEvent` reports it. Only a publisher that finishes ends the
/// stream.
public struct Subscriber: ~Copyable, Sendable {
  let options: SubscriberOptions
  let doorbell: Doorbell
  /// The source of `eventDescriptor`, for subscribers that wait on it.
  let eventSource: EventSource?
  private var search: PublisherSearch

  var attachment: Attachment?
  private var ending: FinishReason?
  /// The last sequence number received or dropped, in `generationOfPosition`.
  var position: UInt64 = 0
  private var generationOfPosition: UInt64?
  var damageHistory = DamageHistory()
  /// Frames of this generation dropped since the last received frame.
  var droppedSince: UInt64 = 0
  /// Whether the next frame must be a key frame.
  var awaitsKeyFrame = false
  private var losslessEndSeen = false
  /// The reported reason of a pause; nil while there is none.
  private(set) var pauseSeen: PauseReason?
  /// Whether a wake-up of this attachment was lost.
  package internal(set) var futexCannotBeTrusted = false
  /// Consecutive wake-ups without a cause.
  var wakesWithoutCause = 0
  /// The watch with which a task last waited for this attachment's bell.
  var bellWatch: BellWatch?

  /// Frames received, of all generations.
  public internal(set) var receivedCount: UInt64 = 0
  var drops = DropCounts()

  /// Samples the latency of some frames, for `framebus top`.
  var latency = LatencySampler()

  /// How long `next` spins before it sleeps, adapted to the frame interval.
  var spinBudget = SpinBudget()

  /// Reported to the current publisher and its successors. Change it rarely.
  public var feedback = Feedback() {
    didSet { attachment?.page.store(feedback) }
  }

  /// What this subscriber can use of the pictures, stated to the current publisher and its
  /// successors. A source may publish smaller pictures and fewer frames if no subscriber needs
  /// more; it follows a higher demand at once. Change it rarely.
  public var demand: Demand {
    didSet {
      search.state(demand)
      attachment?.page.store(demand)
    }
  }

  /// Attaches to a stream. Blocks the thread until the publisher has answered.
  /// - Parameters:
  ///   - deadline: when to stop waiting for a publisher and its answer. If nil, the publisher
  ///     must be running, and has ten seconds to answer.
  ///   - stop: ends the wait from another thread.
  /// - Throws: ``SubscriberError/noSuchStream(_:)`` when nobody publishes the stream, and
  ///   ``SubscriberError/refused(_:_:)`` when its publisher refuses this subscriber.
  public init(
    _ stream: StreamName, in group: AppGroup, options: SubscriberOptions = SubscriberOptions(),
    waitingForPublisherUntil deadline: Deadline? = nil, stop: StopSignal? = nil
  ) throws(SubscriberError) {
    try options.check()
    let eventSource = try EventSource(for: options.wait)
    let doorbell = Doorbell(eventSource?.counter)
    var search = PublisherSearch(
      Rendezvous(
        stream: stream, group: group, hello: options.hello, demand: options.demand), doorbell)
    let attachment = try search.run(until: deadline, stop: stop)
    self.init(options, doorbell, eventSource, search)
    attach(to: attachment)
  }

  private init(
    _ options: SubscriberOptions, _ doorbell: Doorbell, _ eventSource: EventSource?,
    _ search: consuming PublisherSearch
  ) {
    self.options = options
    demand = options.demand
    self.doorbell = doorbell
    self.eventSource = eventSource
    self.search = search
  }

  /// How often to look for a publisher whose start cannot be observed.
  static var retryInterval: Duration { PublisherSearch.retryInterval }

  /// Why the stream ended, once all of its frames have been offered.
  public var finishReason: FinishReason? { ending }
  /// The stream's generation, the number of its current publisher; nil without a publisher.
  public var generation: UInt64? { attachment?.generation }
  /// What the stream shows, as its publisher states it; nil without a publisher.
  public var content: StreamContent? { attachment?.content }
  /// Why the publisher publishes no frames; nil unless it has paused the stream.
  public var pauseReason: PauseReason? {
    if case .paused(let reason)? = attachment?.state { reason } else { nil }
  }
  /// How many leases can be held at once.
  public var grantedHolds: Int { attachment?.grantedHolds ?? 0 }

  /// The application that the frames show, as the publisher names it: `StreamEvent.annotated`
  /// reports each change. Nil if none is known, and without a publisher. Display it, but base no
  /// decision on it.
  public private(set) var application: ApplicationID?

  // MARK: Account

  /// Dropped frames, of all generations. Received and dropped frames add up to all frames published
  /// since this subscriber began.
  public var droppedCount: UInt64 { drops.total }
  /// Dropped frames with this reason, of all generations.
  public func droppedCount(by reason: DropReason) -> UInt64 { drops[reason] }

  /// Published frames that this subscriber has neither received nor dropped yet.
  public var lagFrames: UInt64 {
    guard let cursor = attachment?.cursor, cursor > position else { return 0 }
    return cursor - position
  }

  // MARK: Receiving

  /// The result of one poll of the stream.
  enum Step: ~Copyable {
    case frame(FrameLease)
    case finished(FinishReason)
    /// Nothing new; sleep until the cursor moves or the bell rings.
    case nothing
    /// The next frame is in a pool that has yet to arrive, or there is no publisher: the bell
    /// rings.
    case awaitBell
  }

  /// Receives a frame if one is available. Never blocks: without a publisher, each call advances
  /// the search for one.
  /// - Returns: nil if there is no new frame.
  /// - Complexity: O(1), without system calls, while the publisher lives.
  public mutating func poll() throws(ReceiveError) -> FrameLease? {
    guard case .frame(let lease) = try pollAndArm() else { return nil }
    return lease
  }

  mutating func step() throws(ReceiveError) -> Step {
    if let ending { return .finished(ending) }
    guard let attachment else { return try attachAnew() }
    let seen = Seen(attachment)
    if seen.news.contains(.annotated) { note(application: attachment.takeAnnotation()) }
    let cursor = attachment.cursor
    if cursor > position {
      noteResumption(attachment)
      switch try receive(from: attachment, upTo: cursor) {
      // The reference that this call has goes into the lease.
      case .pinned(let hold): return .frame(FrameLease(attachment, hold: hold))
      case .awaitsPool where !seen.news.contains(.gone): return .awaitBell
      case .awaitsPool, .nothing: break
      }
    }
    return try conclude(attachment, seen)
  }

  /// Copies a frame's bytes if a frame is available, without a lease: no hold, no full fence, and
  /// nothing to release. Never blocks.
  ///
  /// Use it for payloads of a few kilobytes, such as sound, sensor values and control data. It
  /// copies the bytes first and then checks that they were not overwritten meanwhile. An
  /// overwritten frame is dropped and the next one is tried, a bounded number of times, so a large
  /// frame of a fast publisher may never be received this way. Use a lease for everything else.
  /// - Parameter buffer: at least as long as the payload. Bytes after the payload are unchanged.
  /// - Returns: nil if there is no new frame; the buffer's content is then undefined.
  /// - Throws: ``ReceiveError/bufferTooSmall(frameBytes:)``; the next call tries that frame again.
  public mutating func copyNext(
    into buffer: inout MutableRawSpan
  ) throws(ReceiveError) -> CopiedFrame? {
    guard ending == nil else { return nil }
    guard let attachment else {
      _ = try attachAnew()
      return nil
    }
    let seen = Seen(attachment)
    if seen.news.contains(.annotated) { note(application: attachment.takeAnnotation()) }
    let cursor = attachment.cursor
    if cursor > position {
      noteResumption(attachment)
      switch try copy(from: attachment, upTo: cursor, into: &buffer) {
      case .copied(let frame): return frame
      case .awaitsPool where !seen.news.contains(.gone): return nil
      case .awaitsPool, .nothing: break
      }
    }
    _ = try conclude(attachment, seen)
    return nil
  }

  // MARK: The publisher's state

  /// Whether the publisher has paused the stream, so that every frame in it is from before.
  package var isStreamPaused: Bool {
    if case .paused? = attachment?.state { true } else { false }
  }

  /// State that is loaded before polling for a frame, so that no earlier frame is missed.
  private struct Seen {
    let news: PublisherLine.News
    let state: StreamState

    init(_ attachment: Attachment) {
      news = attachment.news
      state = attachment.state
    }
  }

  /// Handles a poll that found no frame.
  private mutating func conclude(
    _ attachment: Attachment, _ seen: Seen
  ) throws(ReceiveError) -> Step {
    if case .finished(let reason) = seen.state {
      ending = reason
      note(application: nil)
      return .finished(reason)
    }
    if seen.news.contains(.gone) { return try leave(.publisherGone) }
    if attachment.isEvicted { return try leave(.evicted) }
    if case .paused(let reason) = seen.state {
      if pauseSeen != reason { options.onEvent?(.paused(reason)) }
      pauseSeen = reason
    } else {
      noteResumption(attachment)
    }
    return .nothing
  }

  /// Reports the end of a pause, before the first frame published after it.
  private mutating func noteResumption(_ attachment: Attachment) {
    guard pauseSeen != nil, case .live = attachment.state else { return }
    pauseSeen = nil
    options.onEvent?(.resumed)
  }

  mutating func noteLosslessEnd() {
    if !losslessEndSeen { options.onEvent?(.losslessEnded) }
    losslessEndSeen = true
  }

  @inline(never)
  private mutating func note(application: ApplicationID?) {
    guard application != self.application else { return }
    self.application = application
    options.onEvent?(.annotated(application))
  }

  /// Drops the attachment. Its leases keep it alive.
  private mutating func leave(_ event: StreamEvent) throws(ReceiveError) -> Step {
    attachment = nil
    crashPoint(.detached)
    note(application: nil)
    options.onEvent?(event)
    return try attachAnew()
  }

  // MARK: Attaching

  /// Advances the search for a publisher.
  private mutating func attachAnew() throws(ReceiveError) -> Step {
    do throws(SubscriberError) {
      search.listen()
      guard let attachment = try search.advance() else { return .awaitBell }
      attach(to: attachment)
      options.onEvent?(.publisherBack(generation: attachment.generation))
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
    losslessEndSeen = false
    pauseSeen = nil
    futexCannotBeTrusted = false
    wakesWithoutCause = 0
    prepareToWait(for: attachment)
    // The same publisher's stream continues at our position.
    if attachment.generation != generationOfPosition || attachment.firstCursor < position {
      generationOfPosition = attachment.generation
      droppedSince = 0
      damageHistory = DamageHistory()
      begin(attachment)
    } else if attachment.firstCursor - position > UInt64(attachment.ringDepth) {
      // So that a lossless publisher does not wait for frames that it has overwritten.
      giveUpLapped(through: attachment.firstCursor - UInt64(attachment.ringDepth), attachment)
    }
    attachment.introduce(options.policy, feedback, demand, drops)
    note(attachment)
  }

  /// Moves to the starting point of the options.
  private mutating func begin(_ attachment: Attachment) {
    let first = attachment.firstCursor
    if case .keyFrameAware = options.policy { awaitsKeyFrame = true }
    switch options.start {
    case .next: position = first
    case .newest: position = first > 0 ? first - 1 : 0
    case .oldest:
      let depth = UInt64(attachment.ringDepth)
      position = first > depth ? first - depth : 0
    case .keyFrame:
      awaitsKeyFrame = true
      let key = attachment.newestKeyFrame(upTo: first)
      position = key.map { $0 - 1 } ?? first
    }
  }

  /// Writes this subscriber's progress into its page.
  func note(_ attachment: Attachment) {
    attachment.advance(
      to: position, received: receivedCount, dropped: drops.total,
      isLossless: options.policy.isLossless)
  }
}
