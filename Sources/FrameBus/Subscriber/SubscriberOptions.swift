import CFrameLayout
import Platform

/// Which frames a subscriber receives when it is slower than the publisher.
public enum SubscriberPolicy: Hashable, Sendable {
  /// The newest frame; frames in between are dropped.
  case latest
  /// In order, the newest N frames; older ones are dropped. N is at most the stream's ring depth.
  case keepLatest(Int)
  /// Every frame. A publisher that offers lossless delivery waits for this subscriber, as long as
  /// it receives frames within the deadline.
  case lossless(deadline: Duration)
  /// In order, the frames whose sequence number is a multiple of N. All subscribers with the same N
  /// see the same frames, whenever they attached and whichever they missed.
  case everyNth(Int)
  /// For encoded streams: in order; after a gap, from the next key frame on, because the frames in
  /// between cannot be decoded.
  case keyFrameAware

  var isLossless: Bool { if case .lossless = self { true } else { false } }

  /// The policy's number in messages and in the page.
  var code: Int {
    switch self {
    case .latest: Int(FB_POLICY_LATEST)
    case .keepLatest: Int(FB_POLICY_KEEP_LATEST)
    case .lossless: Int(FB_POLICY_LOSSLESS)
    case .everyNth: Int(FB_POLICY_EVERY_NTH)
    case .keyFrameAware: Int(FB_POLICY_KEY_FRAME_AWARE)
    }
  }
}

/// Where in the stream a subscriber begins.
public enum StartingPoint: Hashable, Sendable {
  /// With the first frame published after attaching.
  case next
  /// With the newest frame, if there is one.
  case newest
  /// With the oldest frame in the ring.
  case oldest
  /// With the newest key frame in the ring, or else with the next key frame.
  case keyFrame
}

/// How a thread waits for the next frame. Every kind wakes up for the publisher's death, a stop
/// signal and the deadline. Tasks (`next() async`) always wait for the bell.
public enum WaitKind: UInt32, Hashable, Sendable, CaseIterable {
  /// Sleeps on a futex word that all such subscribers share, after a short spin if frames come
  /// fast. One system call of the publisher wakes all of them.
  case futex = 0
  /// Never sleeps: the lowest latency, at the cost of one processor.
  case spin = 1
  /// Sleeps on a private POSIX semaphore, after a short spin as above.
  case semaphore = 2
  /// Waits on a descriptor, `Subscriber.eventDescriptor`, which a program may add to its own event
  /// loop.
  case eventDescriptor = 3
}

/// A change that a subscriber reports through `SubscriberOptions.onEvent`.
public enum StreamEvent: Hashable, Sendable {
  /// The publisher died without finishing the stream. Frames received before stay valid.
  case publisherGone
  /// A publisher is back. A successor's sequence numbers restart; the same publisher's continue.
  case publisherBack(generation: UInt64)
  /// This subscriber was too slow: from now on, frames can be dropped.
  case losslessEnded
  /// This subscriber did not accept a new pool in time and lost its seat. Frames received before
  /// stay valid. It reattaches automatically.
  case evicted
  /// No frames are published until `resumed`. All earlier frames were received. Reported again when
  /// the reason changes.
  case paused(PauseReason)
  /// Frames are published again.
  case resumed
  /// The frames show another application; nil if it is unknown, or the publisher is gone or
  /// has finished.
  case annotated(ApplicationID?)
}

/// How a subscriber receives. Nothing here is required.
public struct SubscriberOptions: Sendable {
  /// Which frames it receives if it is slower than the publisher.
  public var policy = SubscriberPolicy.latest
  /// The frame with which it begins.
  public var start = StartingPoint.newest
  /// Number of leases that can be held at once, 1…16. The publisher may grant fewer.
  public var holds = 1
  /// How the receiving thread waits for a frame.
  public var wait = WaitKind.futex
  /// Whether to verify frames that carry a checksum before they are received. A frame that does not
  /// match is dropped as `DropReason.corrupt`, and the next one is tried. Frames without a checksum
  /// are received unverified; see `FrameLease.checksum`.
  public var verifiesChecksums = false
  /// What the subscriber can use of the pictures; `Subscriber.demand` changes it later. One that
  /// states nothing needs everything.
  public var demand = Demand.everything
  /// Called on the receiving thread.
  public var onEvent: (@Sendable (StreamEvent) -> Void)?

  /// The usual options: the newest frame, one lease, nothing verified.
  public init() {}

  func check() throws(SubscriberError) {
    guard (1...Int(FB_MAXIMUM_HOLDS)).contains(holds) else {
      throw .wrongOptions("holds is \(holds); use 1 to \(FB_MAXIMUM_HOLDS)")
    }
    switch policy {
    case .keepLatest(let count) where count < 1:
      throw .wrongOptions("keepLatest(\(count)) keeps nothing; use 1 or more")
    case .everyNth(let count) where count < 1:
      throw .wrongOptions("everyNth(\(count)) selects no frame; use 1 or more")
    default: break
    }
  }

  var hello: fb_hello {
    var hello = fb_hello()
    hello.header = fb_message_header(Int(FB_MESSAGE_HELLO))
    hello.holds = UInt32(holds)
    hello.policy = UInt32(policy.code)
    hello.wait = wait.rawValue
    hello.extras = UInt64(FB_EXTRA_ANNOTATION)
    switch policy {
    case .keepLatest(let count): hello.keep_latest = UInt64(count)
    case .lossless(let deadline):
      hello.is_lossless = 1
      hello.lossless_deadline_ns = deadline.clampedNanoseconds
    case .latest, .everyNth, .keyFrameAware: break
    }
    return hello
  }
}
