import AppGroup
import FrameBus
import Platform

/// A subscriber to all frames of a stream: lossless where the publisher grants it, as that of a
/// file does; otherwise in order, dropping only frames that have left the ring.
package struct WholeStream: ~Copyable {
  package private(set) var subscriber: Subscriber
  private let stream: StreamName
  private let group: AppGroup
  private let requested: Options
  /// Frames dropped by earlier subscriptions.
  private var earlierDrops: UInt64 = 0
  /// Set for a live stream until its first new frame.
  private var start: FreshStart?
  /// The frame that was current at attachment, held back while a new one may still arrive.
  private var heldBack: FrameLease?

  package struct Options: Sendable {
    /// Nil for the policy that loses the fewest frames.
    package var policy: SubscriberPolicy?
    package var holds = 1
    package var onEvent: (@Sendable (StreamEvent) -> Void)?

    package init() {}
  }

  /// How long a publisher that grants lossless delivery waits for this subscriber.
  private static let losslessDeadline: Duration = .seconds(10)

  package init(
    _ stream: StreamName, in group: AppGroup, _ requested: Options,
    waitingForPublisherUntil deadline: Deadline?, stop: StopSignal
  ) throws(SubscriberError) {
    let askedNs = monotonicNowNs()
    let attached = try Self.attach(stream, group, requested, until: deadline, stop)
    self.stream = stream
    self.group = group
    self.requested = requested
    start = attached.isLossless ? nil : FreshStart(askedNs: askedNs)
    subscriber = attached.subscriber
  }

  package var droppedCount: UInt64 { earlierDrops + subscriber.droppedCount }

  /// - Throws: ``ReceiveError/holdsExhausted(granted:)`` among others, which are final.
  package mutating func next(
    until deadline: Deadline, stop: StopSignal
  ) throws(ReceiveError) -> Reception {
    guard let start else { return try receive(until: deadline, stop) }
    let isWaiting = heldBack != nil
    let reception = try receive(until: isWaiting ? min(deadline, start.end) : deadline, stop)
    switch consume reception {
    case .frame(let lease):
      if start.holdsBack(lease) {
        heldBack = consume lease
        return .timedOut
      }
      self.start = nil
      heldBack = nil
      return .frame(lease)
    case .stopped: return .stopped
    case .timedOut: return isWaiting && start.end.isPast ? takeHeldBack() : .timedOut
    // The subscriber reports the end again on the next call.
    case .finished: return takeHeldBack()
    }
  }

  private mutating func takeHeldBack() -> Reception {
    start = nil
    guard let lease = heldBack.take() else { return .timedOut }
    return .frame(lease)
  }

  private mutating func receive(
    until deadline: Deadline, _ stop: StopSignal
  ) throws(ReceiveError) -> Reception {
    do throws(ReceiveError) {
      return try subscriber.next(until: deadline, stop: stop)
    } catch {
      if case .holdsExhausted = error, heldBack != nil {
        // A newer frame exists.
        heldBack = nil
        return .timedOut
      }
      // The next publisher has a shallower ring, or is live where the previous one was lossless.
      guard requested.policy == nil, case .refused(_, let refusal) = error, refusal.isAboutPolicy
      else { throw error }
      earlierDrops += subscriber.droppedCount
      do throws(SubscriberError) {
        let attached = try Self.attach(stream, group, requested, until: nil, stop)
        subscriber = attached.subscriber
      } catch { throw .refused(stream, refusal) }
      return .timedOut
    }
  }

  private struct Attached: ~Copyable {
    var subscriber: Subscriber
    let isLossless: Bool
  }

  private static func attach(
    _ stream: StreamName, _ group: AppGroup, _ requested: Options, until deadline: Deadline?,
    _ stop: StopSignal
  ) throws(SubscriberError) -> Attached {
    var options = SubscriberOptions()
    options.holds = requested.holds
    options.onEvent = requested.onEvent
    options.policy = requested.policy ?? .lossless(deadline: losslessDeadline)
    while true {
      let isLossless = if case .lossless = options.policy { true } else { false }
      options.start = isLossless ? .oldest : .newest
      do throws(SubscriberError) {
        let subscriber = try Subscriber(
          stream, in: group, options: options, waitingForPublisherUntil: deadline, stop: stop)
        return Attached(subscriber: subscriber, isLossless: isLossless)
      } catch {
        guard requested.policy == nil, case .refused(_, let refusal) = error else { throw error }
        switch refusal {
        case .losslessNotOffered: options.policy = .keepLatest(Self.more)
        case .ringTooShallow(let depth): options.policy = .keepLatest(depth)
        default: throw error
        }
      }
    }
  }

  /// More than any ring's depth: the refusal reports the depth of this one.
  private static let more = 1025
}

extension Refusal {
  fileprivate var isAboutPolicy: Bool {
    switch self {
    case .losslessNotOffered, .ringTooShallow: true
    default: false
    }
  }
}
