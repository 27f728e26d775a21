import CFrameLayout
import Platform

/// Which frames a subscriber receives when it is slower than the publisher.
public enum SubscriberPolicy: Hashable, Sendable {
  /// Always the newest; the ones between are dropped.
  case latest
  /// In order, at most so many behind the newest; what is older is dropped. At most the stream's
  /// ring depth.
  case keepLatest(Int)
  /// Every frame. The publisher waits, if it offers that, as long as frames are received within
  /// the deadline.
  case lossless(deadline: Duration)
  /// In order, those whose sequence number is a multiple of this. So all who ask for the same see
  /// the same frames, whenever they came and whatever they missed.
  case everyNth(Int)
  /// For encoded streams: in order, and after any gap from the next key frame on, because what lies
  /// between cannot be decoded.
  case keyFrameAware

  var isLossless: Bool { if case .lossless = self { true } else { false } }

  /// Its number on the wire and in the page.
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
  /// With the first frame published after it arrived.
  case next
  /// With the newest frame there is, if any.
  case newest
  /// With the oldest frame that is still there.
  case oldest
  /// With the newest key frame that is still there, else with the next one that comes.
  case keyFrame
}

/// How a thread waits for the next frame. All kinds notice the publisher's death, a stop signal and
/// their deadline while asleep. Tasks (`next() async`) always wait for the bell.
public enum WaitKind: UInt32, Hashable, Sendable, CaseIterable {
  /// Sleeps on one word that all such subscribers share, after a short spin where frames come fast:
  /// a single system call of the publisher wakes them all.
  case futex = 0
  /// Never sleeps: the quickest, at the price of a whole processor.
  case spin = 1
  /// Sleeps on a POSIX semaphore of its own, after a short spin as above.
  case semaphore = 2
  /// Waits on a descriptor, `Subscriber.eventDescriptor`, which a program's own event loop may wait
  /// on instead.
  case eventDescriptor = 3
}

public enum StreamEvent: Hashable, Sendable {
  /// The publisher went without a word. Frames received before stay valid.
  case publisherGone
  /// A publisher is there again. A successor's sequence numbers begin anew; the same one's go on.
  case publisherBack(generation: UInt64)
  /// This subscriber was too slow; from now on frames can be dropped.
  case losslessEnded
  /// This subscriber did not take the memory it was sent, and lost its place. Frames received
  /// before stay valid; it attaches anew by itself.
  case evicted
  /// No frames come until `resumed`; those before this were received.
  case paused(PauseReason)
  case resumed
}

public struct SubscriberOptions: Sendable {
  public var policy = SubscriberPolicy.latest
  public var start = StartingPoint.newest
  /// Leases held at once, 1…16. Fewer may be granted.
  public var holds = 1
  /// How the thread that receives sleeps until there is a frame.
  public var wait = WaitKind.futex
  /// Whether frames that carry a checksum are read and compared with it before they are received.
  /// One that differs is dropped as `DropReason.corrupt`, and the next one is tried; frames without
  /// are received as they are (`FrameLease.checksum` tells).
  public var verifiesChecksums = false
  /// Called on the thread that receives.
  public var onEvent: (@Sendable (StreamEvent) -> Void)?

  public init() {}

  func check() throws(SubscriberError) {
    guard (1...Int(FB_MAXIMUM_HOLDS)).contains(holds) else {
      throw .wrongOptions("holds is \(holds); use 1 to \(FB_MAXIMUM_HOLDS)")
    }
    switch policy {
    case .keepLatest(let count) where count < 1:
      throw .wrongOptions("keepLatest(\(count)) keeps nothing; use 1 or more")
    case .everyNth(let count) where count < 1:
      throw .wrongOptions("everyNth(\(count)) names no frame; use 1 or more")
    default: break
    }
  }

  var hello: fb_hello {
    var hello = fb_hello()
    hello.header = fb_message_header(Int(FB_MESSAGE_HELLO))
    hello.holds = UInt32(holds)
    hello.policy = UInt32(policy.code)
    hello.wait = wait.rawValue
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
