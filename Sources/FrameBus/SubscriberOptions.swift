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

  var isLossless: Bool { if case .lossless = self { true } else { false } }
}

/// Where in the stream a subscriber begins.
public enum StartingPoint: Hashable, Sendable {
  /// With the first frame published after it arrived.
  case next
  /// With the newest frame there is, if any.
  case newest
  /// With the oldest frame that is still there.
  case oldest
}

public enum StreamEvent: Hashable, Sendable {
  /// The publisher went without a word. Frames received before stay valid.
  case publisherGone
  /// A successor publishes; sequence numbers begin anew.
  case publisherBack(generation: UInt64)
  /// This subscriber was too slow; from now on frames can be dropped.
  case losslessEnded
}

public struct SubscriberOptions: Sendable {
  public var policy = SubscriberPolicy.latest
  public var start = StartingPoint.newest
  /// Leases held at once, 1…16. Fewer may be granted.
  public var holds = 1
  /// Whether frames that carry a checksum are read and compared with it before they are received.
  /// One that differs is dropped, as `FB_DROP_CORRUPT`, and the next one is tried; frames without
  /// are received as they are (`FrameLease.checksum` tells).
  public var verifiesChecksums = false
  /// Called on the thread that receives.
  public var onEvent: (@Sendable (StreamEvent) -> Void)?

  public init() {}

  func check() throws(SubscriberError) {
    guard (1...Int(FB_MAXIMUM_HOLDS)).contains(holds) else {
      throw .wrongOptions("holds is \(holds); use 1 to \(FB_MAXIMUM_HOLDS)")
    }
    if case .keepLatest(let count) = policy, count < 1 {
      throw .wrongOptions("keepLatest(\(count)) keeps nothing; use 1 or more")
    }
  }

  var hello: fb_hello {
    var hello = fb_hello()
    hello.header = fb_message_header(Int(FB_MESSAGE_HELLO))
    hello.holds = UInt32(holds)
    switch policy {
    case .latest: break
    case .keepLatest(let count): hello.keep_latest = UInt64(count)
    case .lossless(let deadline):
      hello.is_lossless = 1
      hello.lossless_deadline_ns = deadline.clampedNanoseconds
    }
    return hello
  }
}
