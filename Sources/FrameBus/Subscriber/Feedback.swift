import CFrameLayout

/// A subscriber's report to its publisher, to which a source can adapt.
public struct Feedback: Hashable, Sendable {
  /// Load: 0 is idle, 1 is unable to keep up.
  public var utilization: Double
  /// The frame rate that the subscriber can use; nil for any.
  public var requestedRate: FrameRate?

  /// Reports a load, by default none, and the rate that the subscriber can use.
  public init(utilization: Double = 0, requestedRate: FrameRate? = nil) {
    self.utilization = utilization
    self.requestedRate = requestedRate
  }

  /// The highest rate that a publisher accepts, in frames per second.
  public static let maximumRate = 1000

  /// The higher value of each field.
  func merged(with other: Feedback) -> Feedback {
    let rates = [requestedRate, other.requestedRate].compactMap { $0 }
    return Feedback(
      utilization: max(utilization, other.utilization),
      requestedRate: rates.max { $0.framesPerSecond < $1.framesPerSecond })
  }
}

extension FrameRate {
  fileprivate var framesPerSecond: Double { Double(numerator) / Double(denominator) }
}

extension SubscriberPage {
  private static let wholeUtilization = 1000.0

  /// The subscriber's side. Values out of range are clamped.
  func store(_ feedback: Feedback) {
    // Relaxed, here and below: advisory; a mix of old and new values is harmless.
    let thousandths = (feedback.utilization * Self.wholeUtilization).rounded()
    utilization.storeRelaxed(
      thousandths >= 0 ? UInt32(min(thousandths, Self.wholeUtilization)) : 0)
    crashPoint(.utilizationShown)
    let rate = feedback.requestedRate
    requestedRateNumerator.storeRelaxed(UInt32(clamping: rate?.numerator ?? 0))
    crashPoint(.rateNumeratorShown)
    requestedRateDenominator.storeRelaxed(UInt32(clamping: rate?.denominator ?? 0))
    crashPoint(.rateDenominatorShown)
  }

  /// The publisher's side. Values out of range are ignored: the page is untrusted.
  func feedback() -> Feedback {
    // Relaxed: as above.
    let thousandths = utilization.loadRelaxed()
    let numerator = Int(requestedRateNumerator.loadRelaxed())
    let denominator = Int(requestedRateDenominator.loadRelaxed())
    var feedback = Feedback()
    if thousandths <= UInt32(Self.wholeUtilization) {
      feedback.utilization = Double(thousandths) / Self.wholeUtilization
    }
    if numerator > 0, denominator > 0, numerator / denominator <= Feedback.maximumRate {
      feedback.requestedRate = FrameRate(numerator, denominator)
    }
    return feedback
  }
}
