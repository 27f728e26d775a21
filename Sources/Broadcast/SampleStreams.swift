import AppGroup
import FrameBus
import Platform
import Synchronization

/// The streams that an extension reads, waited for at once.
struct SampleStreams: ~Copyable {
  /// Samples of each kind that may be retained.
  static let retainQuota = 4
  /// How often to look for a stream that nobody publishes.
  private static let retryInterval = Duration.milliseconds(200)
  /// How often to look whether what is kept was given back.
  private static let holdInterval = Duration.milliseconds(5)
  /// How many pieces of sound may lie between what is heard and what is new: at 10 ms each, half a
  /// second, for an extension that is busy with a picture.
  private static let soundDepth = 50

  /// What waiting came to.
  enum Arrival: ~Copyable {
    case sample(SampleBuffer, SampleBufferType)
    /// The source has no more samples of this kind.
    case ended(SampleBufferType)
    /// A publisher is gone, or back, or pauses: the news tell.
    case nothing
  }

  enum News: Hashable, Sendable {
    case lost(SampleBufferType)
    case back(SampleBufferType, generation: UInt64)
    case paused(PauseReason)
    case resumed
  }

  private struct Member {
    let type: SampleBufferType
    let quota: RetainQuota
  }

  /// The newest sample of a kind, so that none comes twice.
  private struct Seen {
    var generation: UInt64 = 0
    var sequence: UInt64 = 0
  }

  private let group: AppGroup
  private let sources: SampleSources
  private let wake: Wake
  private let news = NewsBox()
  private var set: SubscriberSet
  private var members: [SubscriberSet.Member: Member] = [:]
  private var seen: [SampleBufferType: Seen] = [:]
  /// When to look for streams that are missing.
  private var looksAt = Deadline.now
  /// What was captured before is no sample, as of a pause in which somebody else looked; nil from
  /// the beginning of a pause to its end.
  private var countsFromNs: UInt64? = 0

  init(_ sources: SampleSources, in group: AppGroup, _ wake: Wake) throws(SystemError) {
    self.sources = sources
    self.group = group
    self.wake = wake
    set = try SubscriberSet()
  }

  /// What became known since this was last asked.
  func takeNews() -> [News] { news.take() }

  /// Leaves all streams, so that their captures rest if nobody else wants frames.
  mutating func detach() {
    for member in set.members { _ = set.remove(member) }
    members = [:]
    looksAt = .now
    countsFromNs = nil
    _ = news.take()
  }

  /// Waits for the next sample, and for streams that nobody publishes, at most until the deadline.
  mutating func next(until limit: Deadline = .never) throws(BroadcastFailure) -> Arrival {
    if countsFromNs == nil { countsFromNs = monotonicNowNs() }
    if isIncomplete, looksAt.isPast {
      try attachMissing()
      looksAt = .after(Self.retryInterval)
    }
    // Told before a sample, which may be long in coming.
    if !news.isEmpty { return .nothing }
    let deadline = min(limit, isIncomplete ? looksAt : .never)
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
        // Fewer were granted than are kept; those come back.
        let soon = Deadline.after(Self.holdInterval)
        _ = try? waitUntilReadable([wake.signal.descriptorNumber], until: soon)
        return .nothing
      }
      // It cannot be read any more, whoever publishes it: looked for anew.
      if let member = leave(error.member) { news.add(.lost(member.type)) }
      return .nothing
    }
  }

  private var isIncomplete: Bool { members.count < sources.streams.count }

  private mutating func sample(
    _ lease: consuming FrameLease, of name: SubscriberSet.Member
  ) -> Arrival {
    guard let member = members[name] else { return .nothing }
    // 0 where it was not captured but read.
    let capturedAtNs = lease.metadata.capturedAtNs
    if capturedAtNs > 0, capturedAtNs < countsFromNs ?? 0 { return .nothing }
    let newest = Seen(generation: lease.generation, sequence: lease.sequence.rawValue)
    // After a pause the stream begins again with what was there before it.
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
    news.add(.lost(member.type))
    return .nothing
  }

  private mutating func leave(_ name: SubscriberSet.Member) -> Member? {
    _ = set.remove(name)
    // Not at once: a stream that is just ending would be found again.
    looksAt = .after(Self.retryInterval)
    return members.removeValue(forKey: name)
  }

  // MARK: Attaching

  private mutating func attachMissing() throws(BroadcastFailure) {
    for (type, stream) in sources.inOrder where !members.values.contains(where: { $0.type == type })
    {
      do throws(SubscriberError) {
        let subscriber = try subscriber(of: stream, type)
        let quota = RetainQuota(limit: max(0, subscriber.grantedHolds - 1))
        if let generation = subscriber.generation {
          news.add(.back(type, generation: generation))
        }
        let name: SubscriberSet.Member
        do { name = try set.add(subscriber) } catch { continue }
        members[name] = Member(type: type, quota: quota)
      } catch {
        switch error {
        case .noSuchStream, .stopped, .noAnswer: continue
        case .refused(_, .full), .refused(_, .busy), .refused(_, .outOfResources): continue
        default: throw BroadcastFailure(domain: "framebus.stream", code: 1, reason: "\(error)")
        }
      }
    }
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
    let (news, wake) = (news, wake)
    options.onEvent = { event in
      switch event {
      case .publisherGone: news.add(.lost(type))
      case .publisherBack(let generation): news.add(.back(type, generation: generation))
      case .paused(let reason): news.add(.paused(reason))
      case .resumed: news.add(.resumed)
      case .losslessEnded, .evicted: return
      }
      wake.raise()
    }
    return options
  }
}

/// News from the thread that receives, kept until it asks.
private final class NewsBox: Sendable {
  private let items = Mutex<[SampleStreams.News]>([])

  func add(_ item: SampleStreams.News) { items.withLock { $0.append(item) } }

  var isEmpty: Bool { items.withLock { $0.isEmpty } }

  func take() -> [SampleStreams.News] {
    items.withLock { items in
      defer { items = [] }
      return items
    }
  }
}
