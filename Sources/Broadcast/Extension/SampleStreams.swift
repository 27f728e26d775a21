import AppGroup
import FrameBus
import Platform
import Synchronization

/// The streams that an extension subscribes to. One wait covers all of them.
struct SampleStreams: ~Copyable {
  /// How many samples of each kind may be retained.
  static let retainQuota = 4
  /// How often to retry a stream without a publisher.
  private static let retryInterval = Duration.milliseconds(200)
  /// How often to check whether retained samples were released.
  private static let pinRetryInterval = Duration.milliseconds(5)
  /// How many chunks of sound may be queued: half a second at 10 ms each, for an extension that is
  /// busy with a picture.
  private static let soundDepth = 50

  /// The result of a wait.
  enum Arrival: ~Copyable {
    case sample(SampleBuffer, SampleBufferType)
    /// The source of this kind has ended.
    case ended(SampleBufferType)
    /// No sample; there may be events.
    case nothing
  }

  enum Event: Hashable, Sendable {
    /// The stream of this kind cannot be received yet. Reported before the first attachment, once
    /// for each reason.
    case missing(SampleBufferType, why: String)
    case lost(SampleBufferType)
    case back(SampleBufferType, generation: UInt64)
    case paused(PauseReason)
    case resumed
    /// The pictures show another application.
    case annotated(ApplicationID?)
  }

  private struct Member {
    let type: SampleBufferType
    let quota: RetainQuota
  }

  /// The newest sample of a kind, to skip duplicates.
  private struct Seen {
    var generation: UInt64 = 0
    var sequence: UInt64 = 0
  }

  private let group: AppGroup
  private let sources: SampleSources
  private let wake: Wake
  private let events = StreamEventQueue()
  private var set: SubscriberSet
  private var members: [SubscriberSet.Member: Member] = [:]
  private var seen: [SampleBufferType: Seen] = [:]
  /// The kinds that applications publish: one that is refused is tried again.
  private let published: Set<SampleBufferType>
  /// The kinds that were attached.
  private var known: Set<SampleBufferType> = []
  /// What was reported of the others.
  private var missing: [SampleBufferType: String] = [:]
  /// When to retry streams that are missing.
  private var retryDeadline = Deadline.now
  /// Samples captured before this time are skipped: they may stem from a pause during which another
  /// subscriber kept the capture running. Nil from the start of a pause to its end.
  private var acceptedFromNs: UInt64?

  /// - Parameters:
  ///   - published: the kinds that applications publish, not captures of the session.
  ///   - acceptedFromNs: the end of the last pause, in which an earlier process of the extension
  ///     may have died; nil during a pause.
  init(
    _ sources: SampleSources, published: Set<SampleBufferType>, in group: AppGroup, _ wake: Wake,
    acceptingFromNs acceptedFromNs: UInt64?
  ) throws(SystemError) {
    set = try SubscriberSet()
    self.sources = sources
    self.published = published
    self.group = group
    self.wake = wake
    self.acceptedFromNs = acceptedFromNs
  }

  /// Returns and clears the events since the last call.
  func takeEvents() -> [Event] { events.take() }

  /// Detaches from all streams, so that their captures idle if nobody else needs frames.
  mutating func detach() {
    for member in set.members { _ = set.remove(member) }
    members = [:]
    retryDeadline = .now
    acceptedFromNs = nil
    _ = events.take()
  }

  /// Waits until the deadline for the next sample, and retries streams without a publisher.
  mutating func next(until limit: Deadline = .never) throws(BroadcastFailure) -> Arrival {
    if acceptedFromNs == nil { acceptedFromNs = monotonicNowNs() }
    if isIncomplete, retryDeadline.isPast {
      try attachMissing()
      retryDeadline = .after(Self.retryInterval)
    }
    // Events first: the next sample may be a long time away.
    if !events.isEmpty { return .nothing }
    let deadline = min(limit, isIncomplete ? retryDeadline : .never)
    if members.isEmpty {
      _ = try? waitUntilReadable([wake.signal.descriptorNumber], until: deadline)
      return .nothing
    }
    do throws(SubscriberSet.MemberError) {
      switch try set.next(until: deadline, stop: wake.signal) {
      case .frame(let name, let lease): return sample(lease, of: name)
      case .finished(let name, let reason): return finished(name, reason)
      case .timedOut: return .nothing
      case .stopped: return .nothing
      case .nothingLeft: return .nothing
      }
    } catch {
      if case .holdsExhausted = error.error {
        // Fewer pins were granted than samples are retained; some will be released.
        let soon = Deadline.after(Self.pinRetryInterval)
        _ = try? waitUntilReadable([wake.signal.descriptorNumber], until: soon)
        return .nothing
      }
      // This stream cannot be read any more; find it again, under any publisher.
      if let member = leave(error.member) { events.add(.lost(member.type)) }
      return .nothing
    }
  }

  private var isIncomplete: Bool { members.count < sources.streams.count }

  private mutating func sample(
    _ lease: consuming FrameLease, of name: SubscriberSet.Member
  ) -> Arrival {
    guard let member = members[name] else { return .nothing }
    // 0 for a sample that was read from a file instead of captured.
    let capturedAtNs = lease.metadata.capturedAtNs
    if capturedAtNs > 0, capturedAtNs < acceptedFromNs ?? 0 { return .nothing }
    let newest = Seen(generation: lease.generation, sequence: lease.sequence.rawValue)
    // After a pause the stream starts with samples from before it.
    if let seen = seen[member.type], seen.generation == newest.generation,
      seen.sequence >= newest.sequence
    {
      return .nothing
    }
    seen[member.type] = newest
    return .sample(SampleBuffer(SharedLease(lease), member.quota), member.type)
  }

  private mutating func finished(
    _ name: SubscriberSet.Member, _ reason: FinishReason
  ) -> Arrival {
    guard let member = leave(name) else { return .nothing }
    if reason == .ended { return .ended(member.type) }
    events.add(.lost(member.type))
    return .nothing
  }

  private mutating func leave(_ name: SubscriberSet.Member) -> Member? {
    _ = set.remove(name)
    // Not at once, because a stream that is just ending would be found again.
    retryDeadline = .after(Self.retryInterval)
    return members.removeValue(forKey: name)
  }

  // MARK: Attaching

  private mutating func attachMissing() throws(BroadcastFailure) {
    for (type, stream) in sources.inOrder where !members.values.contains(where: { $0.type == type })
    {
      do throws(SubscriberError) {
        let subscriber = try subscriber(of: stream, type)
        if subscriber.isStreamPaused { acceptedFromNs = monotonicNowNs() }
        let quota = RetainQuota(limit: max(0, subscriber.grantedHolds - 1))
        if let generation = subscriber.generation {
          events.add(.back(type, generation: generation))
        }
        known.insert(type)
        let name: SubscriberSet.Member
        do { name = try set.add(subscriber) } catch { continue }
        members[name] = Member(type: type, quota: quota)
      } catch {
        switch error {
        case .stopped: continue
        case .noSuchStream: note(type, "no stream \(stream) is published yet")
        case .noAnswer, .refused(_, .full), .refused(_, .busy), .refused(_, .outOfResources):
          note(type, "\(error)")
        default:
          guard published.contains(type) else {
            throw BroadcastFailure(domain: "framebus.stream", code: 1, reason: "\(error)")
          }
          note(type, "\(error)")
        }
      }
    }
  }

  /// Reports why a stream that was never attached cannot be.
  private mutating func note(_ type: SampleBufferType, _ why: String) {
    if known.contains(type) || missing.updateValue(why, forKey: type) == why { return }
    events.add(.missing(type, why: why))
  }

  private func subscriber(
    of stream: StreamName, _ type: SampleBufferType
  ) throws(SubscriberError) -> Subscriber {
    var options = options(for: type)
    do throws(SubscriberError) {
      return try Subscriber(stream, in: group, options: options, stop: wake.signal)
    } catch {
      guard case .refused(_, .ringTooShallow(let ringDepth)) = error else { throw error }
      options.policy = .keepLatest(ringDepth)
      return try Subscriber(stream, in: group, options: options, stop: wake.signal)
    }
  }

  private func options(for type: SampleBufferType) -> SubscriberOptions {
    var options = SubscriberOptions()
    options.policy = type == .video ? .latest : .keepLatest(Self.soundDepth)
    options.holds = Self.retainQuota + 1
    let (events, wake) = (events, wake)
    options.onEvent = { event in
      switch event {
      case .publisherGone: events.add(.lost(type))
      case .publisherBack(let generation): events.add(.back(type, generation: generation))
      case .paused(let reason): events.add(.paused(reason))
      case .resumed: events.add(.resumed)
      case .annotated(let application):
        guard type == .video else { return }
        events.add(.annotated(application))
      case .losslessEnded, .evicted: return
      }
      wake.raise()
    }
    return options
  }
}

/// Events from the receiving thread, queued until they are taken.
private final class StreamEventQueue: Sendable {
  private let items = Mutex<[SampleStreams.Event]>([])

  func add(_ item: SampleStreams.Event) { items.withLock { $0.append(item) } }

  var isEmpty: Bool { items.withLock { $0.isEmpty } }

  func take() -> [SampleStreams.Event] {
    items.withLock { items in
      defer { items = [] }
      return items
    }
  }
}
