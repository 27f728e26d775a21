import FrameBus
import Platform

/// How a stream is delivered in a trial: both sides follow from it.
enum Role: String, CaseIterable {
  case latest, keepLatest, lossless

  static let ringDepth = 4

  var policy: SubscriberPolicy {
    switch self {
    case .latest: .latest
    case .keepLatest: .keepLatest(Self.ringDepth)
    case .lossless: .lossless(deadline: .seconds(30))
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
    options.holds = holds
    return options
  }
}

/// Small pictures first, so that many go by; each step is a larger one.
func proofFormat(step: Int) throws(FrameFormatError) -> FrameFormat {
  try .video(.xrgb8888, width: 64, height: step == 0 ? 4 : 32 * step)
}
