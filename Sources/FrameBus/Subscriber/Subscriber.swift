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
  /// What is behind `eventDescriptor`, for subscribers that wait on it.
  let eventSource: EventSource?
  private var search: PublisherSearch

  var attachment: Attachment?
  private var ending: FinishReason?
  /// The last sequence number received or given up, in the generation below.
  var position: UInt64 = 0
  private var generationOfPosition: UInt64?
  var damageHistory = DamageHistory()
  /// Drops of the generation since the last frame handed out.
  var droppedSince: UInt64 = 0
  /// Whether only a key frame may come next.
  var awaitsKeyFrame = false
  private var losslessEndSeen = false
  private(set) var pauseSeen = false
  /// Whether wake-ups of this attachment were lost on the way.
  package internal(set) var futexCannotBeTrusted = false
  /// Wake-ups in a row by nobody who had a reason.
  var wakesWithoutCause = 0
  /// Where a task last waited for this attachment's bell.
  var bellWatch: BellWatch?

  /// Frames received, of all generations.
  public internal(set) var receivedCount: UInt64 = 0
  var drops = DropCounts()

  /// Times some frames on their way here, for `framebus top`.
  var latency = LatencySampler()

  /// How long `next` spins before it sleeps, learnt from how long frames took to come.
  var spinBudget = SpinBudget()

  /// Told to the publisher, whoever it is. Change it as rarely as it is worth reading.
  public var feedback = Feedback() {
    didSet { attachment?.page.store(feedback) }
  }

  /// Attaches to a stream. Blocks the thread until the publisher has answered.
  /// - Parameters:
  ///   - deadline: how long to wait for a publisher and for its answer. Without one the publisher
  ///     must be there, and has ten seconds to answer.
  ///   - stop: ends the wait from another thread.
  /// - Throws: ``SubscriberError/noSuchStream(_:)`` when there is none, and what a publisher
  ///   refuses for.
  public init(
    _ stream: StreamName, in group: AppGroup, options: SubscriberOptions = SubscriberOptions(),
    waitingForPublisherUntil deadline: Deadline? = nil, stop: StopSignal? = nil
  ) throws(SubscriberError) {
    try options.check()
    let eventSource = try EventSource(for: options.wait)
    let doorbell = Doorbell(eventSource?.counter)
    var search = PublisherSearch(
      Rendezvous(stream: stream, group: group, hello: options.hello), doorbell)
    let attachment = try search.run(until: deadline, stop: stop)
    self.options = options
    self.doorbell = doorbell
    self.eventSource = eventSource
    self.search = search
    attach(to: attachment)
  }

  /// How often a publisher is looked for that announced itself in no way we can see.
  static var retryInterval: Duration { PublisherSearch.retryInterval }

  /// Why the stream ended, once all that was published has been offered.
  public var finishReason: FinishReason? { ending }
  /// The stream's generation, the number of its current publisher; nil while there is none.
  public var generation: UInt64? { attachment?.generation }
  /// How many leases can be held at once now.
  public var grantedHolds: Int { attachment?.grantedHolds ?? 0 }

  // MARK: Account

  /// Frames this subscriber will never see, of all generations. With those received they add up to
  /// all that were published since it began.
  public var droppedCount: UInt64 { drops.total }
  public func droppedCount(by reason: DropReason) -> UInt64 { drops[reason] }

  /// Frames published that this subscriber has not come to yet.
  public var lagFrames: UInt64 {
    guard let cursor = attachment?.cursor, cursor > position else { return 0 }
    return cursor - position
  }

  // MARK: Receiving

  /// What one look at the stream found.
  enum Step: ~Copyable {
    case frame(FrameLease)
    case finished(FinishReason)
    /// Nothing new; sleep until the cursor moves or the bell rings.
    case nothing
    /// A frame lies in memory that has yet to arrive, or there is no publisher: the bell will ring.
    case awaitBell
  }

  /// Receives a frame if one is to be had now. Never blocks: while there is no publisher, each call
  /// takes the search for one a step further.
  /// - Returns: nil when there is nothing new.
  /// - Complexity: O(1), without system calls, while the publisher lives.
  public mutating func poll() throws(ReceiveError) -> FrameLease? {
    guard case .frame(let lease) = try lookAndArm() else { return nil }
    return lease
  }

  mutating func step() throws(ReceiveError) -> Step {
    if let ending { return .finished(ending) }
    guard let attachment else { return try attachAnew() }
    let seen = Seen(attachment)
    let cursor = attachment.cursor
    if cursor > position {
      noteResumption(attachment)
      switch try receive(from: attachment, upTo: cursor) {
      // The reference that this call has goes into the lease.
      case .pinned(let hold): return .frame(FrameLease(attachment, hold: hold))
      case .awaitsPool where !seen.isGone: return .awaitBell
      case .awaitsPool, .nothing: break
      }
    }
    return try conclude(attachment, seen)
  }

  /// Copies a frame's bytes if one is to be had now, without a lease: no hold, no full fence, and
  /// nothing to release. Never blocks.
  ///
  /// Right for payloads of a few kilobytes, such as sound, sensor values and control data. The
  /// bytes are copied first, and then it is made sure that they were not overwritten meanwhile. So
  /// a large frame of a fast publisher may never be had this way: what was overwritten is given up,
  /// and the next one is tried, a bounded number of times. A lease is right for everything else,
  /// and where the bytes need not be copied at all.
  /// - Parameter buffer: at least the frame's payload long. What lies behind the payload stays.
  /// - Returns: nil when there is nothing new; then the buffer may hold bytes of no frame at all.
  /// - Throws: ``ReceiveError/bufferTooSmall(frameBytes:)``; that frame is tried again next time.
  public mutating func copyNext(
    into buffer: inout MutableRawSpan
  ) throws(ReceiveError) -> CopiedFrame? {
    guard ending == nil else { return nil }
    guard let attachment else {
      _ = try attachAnew()
      return nil
    }
    let seen = Seen(attachment)
    let cursor = attachment.cursor
    if cursor > position {
      noteResumption(attachment)
      switch try copy(from: attachment, upTo: cursor, into: &buffer) {
      case .copied(let frame): return frame
      case .awaitsPool where !seen.isGone: return nil
      case .awaitsPool, .nothing: break
      }
    }
    _ = try conclude(attachment, seen)
    return nil
  }

  // MARK: The publisher's state

  /// What is asked before looking for a frame, so that none published before it is overlooked.
  private struct Seen {
    let isGone: Bool
    let state: StreamState

    init(_ attachment: Attachment) {
      isGone = attachment.isGone
      state = attachment.state
    }
  }

  /// Goes on where no frame was found.
  private mutating func conclude(
    _ attachment: Attachment, _ seen: Seen
  ) throws(ReceiveError) -> Step {
    if case .finished(let reason) = seen.state {
      ending = reason
      return .finished(reason)
    }
    if seen.isGone { return try leave(.publisherGone) }
    if attachment.isEvicted { return try leave(.evicted) }
    if case .paused(let reason) = seen.state {
      if !pauseSeen { options.onEvent?(.paused(reason)) }
      pauseSeen = true
    } else {
      noteResumption(attachment)
    }
    return .nothing
  }

  /// After a pause: whether it is over. What comes after it was published after it ended.
  private mutating func noteResumption(_ attachment: Attachment) {
    guard pauseSeen, case .live = attachment.state else { return }
    pauseSeen = false
    options.onEvent?(.resumed)
  }

  mutating func noteLosslessEnd() {
    if !losslessEndSeen { options.onEvent?(.losslessEnded) }
    losslessEndSeen = true
  }

  /// Gives the attachment up. It lives on in its leases.
  private mutating func leave(_ event: StreamEvent) throws(ReceiveError) -> Step {
    attachment = nil
    crashPoint(.detached)
    options.onEvent?(event)
    return try attachAnew()
  }

  // MARK: Attaching

  /// Takes the search for a publisher a step further.
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
    pauseSeen = false
    futexCannotBeTrusted = false
    wakesWithoutCause = 0
    prepareToWait(for: attachment)
    // The same publisher's stream goes on where we were.
    if attachment.generation != generationOfPosition || attachment.firstCursor < position {
      generationOfPosition = attachment.generation
      droppedSince = 0
      damageHistory = DamageHistory()
      begin(attachment)
    } else if attachment.firstCursor - position > UInt64(attachment.ringDepth) {
      // Before a lossless publisher waits for what it has long overwritten.
      giveUpLapped(through: attachment.firstCursor - UInt64(attachment.ringDepth), attachment)
    }
    attachment.introduce(options.policy, feedback, drops)
    note(attachment)
  }

  /// Moves to where the options say that a stream begins.
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

  /// Writes into the page how far this subscriber came.
  func note(_ attachment: Attachment) {
    attachment.advance(
      to: position, received: receivedCount, dropped: drops.total,
      isLossless: options.policy.isLossless)
  }
}
