import FrameBus
import Platform

/// How a stream is delivered in a trial: both sides follow from it.
enum Role: String, CaseIterable {
  case latest, keepLatest, lossless
  /// Waits on a semaphore.
  case everyNth
  /// Waits on a descriptor, for frames of which only some are key frames.
  case keyFrameAware
  /// Receives as a task.
  case tasks

  static let ringDepth = 4

  /// The roles in which a waiting subscriber receives every frame.
  static let complete: [Role] = [.latest, .keepLatest, .lossless]

  /// The role of the subscriber that checks the others.
  var witness: Role { Self.complete.contains(self) ? self : .keepLatest }

  /// Where to die in it: anywhere, or only where it differs from those before.
  var points: Set<CrashPoint> {
    guard !Self.complete.contains(self) else { return Set(CrashPoint.allCases) }
    return [
      .descriptorInvalid, .cursorMoved, .bellsRung, .waitKindShown, .holdTaken, .released,
      .advanced, .dropsShown, .waitingShown, .sleepEnded, .detached,
    ]
  }

  var policy: SubscriberPolicy {
    switch self {
    case .latest, .tasks: .latest
    case .keepLatest: .keepLatest(Self.ringDepth)
    case .lossless: .lossless(deadline: .seconds(30))
    case .everyNth: .everyNth(3)
    case .keyFrameAware: .keyFrameAware
    }
  }

  /// Whether its policy allows a frame after this number of dropped frames.
  func mayReceive(_ number: UInt64, after dropped: UInt64) -> Bool {
    switch self {
    case .latest, .keepLatest, .lossless, .tasks: true
    case .everyNth: number.isMultiple(of: 3)
    case .keyFrameAware: dropped == 0 || ProofFrame.isKey(number)
    }
  }

  private var wait: WaitKind {
    switch self {
    case .everyNth: .semaphore
    case .keyFrameAware: .eventDescriptor
    case .latest, .keepLatest, .lossless, .tasks: .futex
    }
  }

  var publisherOptions: PublisherOptions {
    var options = PublisherOptions()
    options.ringDepth = Self.ringDepth
    options.maxLoans = 2
    options.holdQuota = 96
    options.allowsLossless = self == .lossless
    return options
  }

  func subscriberOptions(holds: Int) -> SubscriberOptions {
    var options = SubscriberOptions()
    options.policy = policy
    options.wait = wait
    options.holds = holds
    return options
  }

  /// Small pictures first, so that many go by; each step is a larger one.
  func format(step: Int) throws(FrameFormatError) -> FrameFormat {
    let picture = try FrameFormat.video(.xrgb8888, width: 64, height: step == 0 ? 4 : 32 * step)
    guard self == .keyFrameAware else { return picture }
    return try .encoded(
      .h264, as: .video, maximumByteCount: picture.byteCount, width: picture.width,
      height: picture.height)
  }
}
