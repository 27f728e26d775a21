import CFrameLayout

/// What a subscriber tells its publisher about itself, so that a source can adapt.
public struct Feedback: Hashable, Sendable {
  /// How busy it is: 0 idle, 1 not able to keep up.
  public var utilization: Double
  /// The frame rate that it can use; nil for any.
  public var wantedRate: FrameRate?

  public init(utilization: Double = 0, wantedRate: FrameRate? = nil) {
    self.utilization = utilization
    self.wantedRate = wantedRate
  }

  /// The highest rate that is believed to be wanted, in frames a second.
  public static let maximumRate = 1000

  /// The higher of each.
  func merged(with other: Feedback) -> Feedback {
    let rates = [wantedRate, other.wantedRate].compactMap { $0 }
    return Feedback(
      utilization: max(utilization, other.utilization),
      wantedRate: rates.max { $0.framesPerSecond < $1.framesPerSecond })
  }
}

extension FrameRate {
  fileprivate var framesPerSecond: Double { Double(numerator) / Double(denominator) }
}

extension SubscriberPage {
  private static let wholeUtilization = 1000.0

  /// The subscriber's side. What is out of range is brought into it.
  func store(_ feedback: Feedback) {
    // Relaxed, here and below: advice, of which a mix of old and new does no harm.
    let thousandths = (feedback.utilization * Self.wholeUtilization).rounded()
    utilization.storeRelaxed(
      thousandths >= 0 ? UInt32(min(thousandths, Self.wholeUtilization)) : 0)
    crashPoint(.utilizationShown)
    let rate = feedback.wantedRate
    wantedRateNumerator.storeRelaxed(UInt32(clamping: rate?.numerator ?? 0))
    crashPoint(.rateNumeratorShown)
    wantedRateDenominator.storeRelaxed(UInt32(clamping: rate?.denominator ?? 0))
    crashPoint(.rateDenominatorShown)
  }

  /// The publisher's side, who believes nothing: what is out of range was not said.
  func feedback() -> Feedback {
    // Relaxed: as above.
    let thousandths = utilization.loadRelaxed()
    let numerator = Int(wantedRateNumerator.loadRelaxed())
    let denominator = Int(wantedRateDenominator.loadRelaxed())
    var feedback = Feedback()
    if thousandths <= UInt32(Self.wholeUtilization) {
      feedback.utilization = Double(thousandths) / Self.wholeUtilization
    }
    if numerator > 0, denominator > 0, numerator / denominator <= Feedback.maximumRate {
      feedback.wantedRate = FrameRate(numerator, denominator)
    }
    return feedback
  }
}
