import CFrameLayout

/// What a subscriber can use of a stream's pictures. A source may publish less than it could if no
/// subscriber needs more: a large screen that is watched on a phone need not be captured in full.
public struct Demand: Hashable, Sendable {
  /// The pixels within which the picture is shown, its aspect ratio kept.
  public struct Box: Hashable, Sendable {
    /// Width in pixels.
    public let width: Int
    /// Height in pixels.
    public let height: Int

    /// - Parameters: pixels, 1…65535 each; what is out of range is bounded.
    public init(width: Int, height: Int) {
      self.width = min(max(width, 1), Int(UInt16.max))
      self.height = min(max(height, 1), Int(UInt16.max))
    }
  }

  /// Nil for pictures in full size.
  public var box: Box?
  /// The most frames a second; nil for all frames.
  public var rate: FrameRate?

  /// What the subscriber needs; without arguments, everything.
  public init(box: Box? = nil, rate: FrameRate? = nil) {
    self.box = box
    self.rate = rate
  }

  /// All frames in full size: of a recorder, and of every subscriber that states nothing.
  public static let everything = Demand()

  /// What satisfies both.
  func merged(with other: Demand) -> Demand {
    var merged = Demand.everything
    if let box, let other = other.box {
      merged.box = Box(width: max(box.width, other.width), height: max(box.height, other.height))
    }
    if let rate, let other = other.rate {
      // Without overflow: a program may state any numbers of its own.
      let isLower =
        Double(rate.numerator) * Double(other.denominator)
        < Double(other.numerator) * Double(rate.denominator)
      merged.rate = isLower ? other : rate
    }
    return merged
  }
}

// One word, so that no reader gets the width of one demand and the height of another.
extension SubscriberPage {
  private static let secondsOfRate = 1000
  private static let rates = 1...UInt64(Feedback.maximumRate * secondsOfRate)

  /// The subscriber's side. A rate below one frame in 1000 seconds, or above the maximum, is
  /// bounded; one that is not a rate means all frames.
  func store(_ demand: Demand) {
    var word = UInt64(demand.box?.width ?? 0) | UInt64(demand.box?.height ?? 0) << 16
    if let rate = demand.rate, rate.numerator > 0, rate.denominator > 0 {
      let exact = Double(rate.numerator) / Double(rate.denominator) * Double(Self.secondsOfRate)
      let bounded = min(max(exact.rounded(.up), 1), Double(Self.rates.upperBound))
      word |= UInt64(bounded) << 32
    }
    // Relaxed: advisory, and nothing else is read by it.
    self.demand.storeRelaxed(word)
    crashPoint(.demandShown)
  }

  /// The publisher's side. A part out of range means everything: the page is untrusted.
  func demanded() -> Demand {
    // Relaxed: as above.
    let word = self.demand.loadRelaxed()
    let (width, height) = (Int(word & 0xffff), Int(word >> 16 & 0xffff))
    var demand = Demand()
    if width > 0, height > 0 { demand.box = Demand.Box(width: width, height: height) }
    if Self.rates.contains(word >> 32) {
      demand.rate = FrameRate(Int(word >> 32), Self.secondsOfRate)
    }
    return demand
  }
}
