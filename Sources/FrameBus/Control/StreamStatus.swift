import CFrameLayout
import Platform

/// The status of one stream, reported by its publisher's control plane.
public struct StreamStatus: Hashable, Sendable {
  /// What the publisher of a stream does.
  public enum State: String, Hashable, Sendable {
    /// It has no frames yet, and no format.
    case starting
    /// It publishes.
    case live
    /// It publishes nothing for some time.
    case paused
    /// It has ended.
    case finished
  }

  /// The name of the stream.
  public let name: StreamName
  /// What its publisher does.
  public let state: State
  /// Why no frames are published; nil unless the state is `paused`.
  public let pauseReason: PauseReason?
  /// What its pictures show, as its publisher states it.
  public let content: StreamContent
  /// The application that its frames show, as its publisher names it; nil if it is unknown.
  public let application: ApplicationID?
  /// The publisher's generation; a restarted publisher has another.
  public let generation: UInt64
  /// The process that publishes it.
  public let publisherPID: Int32
  /// The newest sequence number, which is also the number of published frames.
  public let cursor: UInt64
  /// Total payload of all published frames.
  public let publishedBytes: UInt64
  /// Loans that were not published.
  public let abandoned: UInt64
  /// The format of its frames; nil before the first.
  public let format: FrameFormat?
  /// Slots of the current pool.
  public let slots: Int
  /// Bytes of a slot.
  public let slotBytes: Int
  /// Memory of all live pools.
  public let retainedBytes: UInt64
  /// Number of publishes that woke a sleeper.
  public let wakeUps: UInt64
  /// Subscribers that lost their lossless delivery.
  public let losslessEnded: UInt64
  /// Subscribers that lost their seats.
  public let evictions: UInt64
  /// Connections that were closed for violating the protocol.
  public let rejected: UInt64
  /// Subscribers that have not been sent a new pool yet.
  public let owed: Int
  /// Its subscribers.
  public let subscribers: [SubscriberStatus]

  package init(
    _ name: StreamName, _ status: fb_status, _ subscribers: [fb_subscriber_details],
    application: ApplicationID? = nil
  ) {
    self.name = name
    self.application = application
    state =
      switch Int(status.state) {
      case Int(FB_STATE_LIVE): .live
      case Int(FB_STATE_PAUSED): .paused
      case Int(FB_STATE_FINISHED): .finished
      default: .starting
      }
    pauseReason =
      state == .paused ? PauseReason(rawValue: status.finish_reason) ?? .requested : nil
    content = StreamContent(rawValue: status.content) ?? .other
    generation = status.generation
    publisherPID = Int32(truncatingIfNeeded: status.publisher_pid)
    cursor = status.cursor
    publishedBytes = status.published_bytes
    abandoned = status.abandoned
    format = FrameFormat(status.format)
    slots = Int(status.pool.slot_count)
    slotBytes = Int(clamping: status.pool.slot_bytes)
    retainedBytes = status.retained_bytes
    wakeUps = status.wake_ups
    losslessEnded = status.lossless_ended
    evictions = status.evictions
    rejected = status.rejected
    owed = Int(status.owed)
    self.subscribers = subscribers.map { SubscriberStatus($0, cursor: status.cursor) }
  }

  /// Whether a subscriber sees a screen or window through this stream.
  public var isCaptured: Bool { content.isOnScreen && !subscribers.isEmpty }
}

/// One subscriber of a stream. Its figures are its own claims, copied by the publisher.
public struct SubscriberStatus: Hashable, Sendable {
  /// Which frames a subscriber receives.
  public enum Policy: String, Hashable, Sendable, CaseIterable {
    /// ``SubscriberPolicy/latest``
    case latest
    /// ``SubscriberPolicy/keepLatest(_:)``
    case keepLatest
    /// ``SubscriberPolicy/lossless(deadline:)``
    case lossless
    /// ``SubscriberPolicy/everyNth(_:)``
    case everyNth
    /// ``SubscriberPolicy/keyFrameAware``
    case keyFrameAware
  }

  /// How a subscriber waits.
  public enum Wait: String, Hashable, Sendable, CaseIterable {
    /// ``WaitKind/futex``
    case futex
    /// ``WaitKind/spin``
    case spin
    /// ``WaitKind/semaphore``
    case semaphore
    /// ``WaitKind/eventDescriptor``
    case eventDescriptor
  }

  /// Its seat.
  public let id: Int
  /// Its process.
  public let pid: Int32
  /// The last frame received or dropped.
  public let position: UInt64
  /// Published frames that it has neither received nor dropped yet.
  public let lag: UInt64
  /// Frames that it holds.
  public let held: Int
  /// Frames that it received.
  public let received: UInt64
  /// Frames that it lost.
  public let dropped: UInt64
  /// Drops by reason, in the order of `DropReason.allCases`.
  public let drops: [UInt64]
  /// Nil if this version does not know the policy.
  public let policy: Policy?
  /// Nil if this version does not know how it waits.
  public let wait: Wait?
  /// Whether the publisher waits for it.
  public let isLossless: Bool
  /// Its reported utilization, in thousandths.
  public let utilization: Int
  /// Latencies from publish to receive, since it began.
  public let latencies: LatencyCounts

  /// Frames that it lost for this reason.
  public func dropped(for reason: DropReason) -> UInt64 {
    DropReason.allCases.firstIndex(of: reason).map { drops[$0] } ?? 0
  }

  init(_ details: fb_subscriber_details, cursor: UInt64) {
    let row = details.subscriber
    id = Int(row.id)
    pid = Int32(truncatingIfNeeded: row.pid)
    position = row.position
    lag = cursor > row.position ? cursor - row.position : 0
    held = Int(row.held)
    received = row.received
    dropped = row.dropped
    let reasons = details.drops
    drops = [reasons.0, reasons.1, reasons.2, reasons.3, reasons.4, reasons.5]
    policy = Policy.allCases.dropFirst(Int(details.policy)).first
    wait = Wait.allCases.dropFirst(Int(details.wait)).first
    isLossless = row.seat == UInt32(FB_SEAT_LOSSLESS)
    utilization = Int(details.utilization)
    latencies = LatencyCounts(details)
  }
}

extension fb_status {
  /// The IDs of the listed subscribers.
  var subscriberIDs: [UInt32] {
    let count = min(Int(subscriber_count), Int(FB_MAXIMUM_SUBSCRIBERS))
    // SAFETY: `count` is at most the number of rows in the record.
    return unsafe withUnsafeBytes(of: subscribers) { bytes in
      (0..<count).map { index in
        unsafe bytes.load(
          fromByteOffset: index * MemoryLayout<fb_subscriber_status>.stride,
          as: fb_subscriber_status.self
        ).id
      }
    }
  }
}
