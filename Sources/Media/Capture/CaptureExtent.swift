import FrameBus

/// How much of its pictures a source publishes: in what size, and how often. It follows the demand
/// of the subscribers, up at once and down slowly, so that one that comes and goes changes little
/// for the others.
///
/// A pure calculation over the times that the caller passes in; it never reads a clock.
public struct CaptureExtent: Hashable, Sendable {
  /// Each square of this many pixels a side becomes one.
  public private(set) var divisor = 1
  /// Frames per second.
  public private(set) var rate: FrameRate
  private let fullRate: FrameRate
  /// Since when all subscribers have needed less.
  private var lowerSinceNs: UInt64?
  private var isNew = true

  /// How long a higher demand may go unnoticed.
  public static let demandInterval = Duration.milliseconds(100)
  /// How long no subscriber needs more before the source publishes less.
  public static let settlingNs: UInt64 = 2_000_000_000
  /// Larger squares would lose precision, and save hardly anything.
  public static let maximumDivisor = 16
  /// No side of a picture becomes shorter, for encoders.
  private static let shortestSide = 16
  /// No subscriber waits longer for a frame, in a state that it did not see.
  private static let lowestRate = FrameRate(1, 10)

  /// - Parameter rate: the highest, frames per second.
  public init(rate: FrameRate) {
    fullRate = rate
    self.rate = rate
  }

  /// Adopts the next demand at once, as nobody sees a change: there were no subscribers.
  public mutating func restart() { isNew = true }

  /// Adapts to a picture of another size.
  public mutating func limit(to area: PixelRect) {
    divisor = min(divisor, Self.largestDivisor(of: area))
  }

  /// - Parameter demand: nil, without subscribers, changes nothing.
  public mutating func follow(_ demand: Demand?, of area: PixelRect, nowNs: UInt64) {
    guard let demand else { return }
    let needed = (divisor: Self.reduction(of: area, to: demand.box), rate: bounded(demand.rate))
    defer { isNew = false }
    divisor = min(divisor, needed.divisor)
    if rate.isLower(than: needed.rate) { rate = needed.rate }
    guard divisor < needed.divisor || needed.rate.isLower(than: rate) else {
      lowerSinceNs = nil
      return
    }
    let sinceNs = lowerSinceNs ?? nowNs
    lowerSinceNs = sinceNs
    guard isNew || nowNs >= sinceNs + Self.settlingNs else { return }
    (divisor, rate) = (needed.divisor, needed.rate)
    lowerSinceNs = nil
  }

  /// What is published of a picture.
  public func picture(of area: PixelRect) -> PixelRect {
    PixelRect(x: 0, y: 0, width: area.width, height: area.height).divided(by: divisor)
  }

  /// The changed area of a picture, in pixels of the one that is published.
  public func damage(_ region: DamageRegion) -> DamageRegion {
    if divisor == 1 || region.isFull { return region }
    return DamageRegion(region.rects.map { $0.divided(by: divisor) })
  }

  /// The largest divisor with which the picture still fills the box.
  private static func reduction(of area: PixelRect, to box: Demand.Box?) -> Int {
    guard let box, area.width > 0, area.height > 0 else { return 1 }
    let fitting = max(area.width / box.width, area.height / box.height)
    return min(max(fitting, 1), largestDivisor(of: area))
  }

  private static func largestDivisor(of area: PixelRect) -> Int {
    min(max(min(area.width, area.height) / shortestSide, 1), maximumDivisor)
  }

  private func bounded(_ demanded: FrameRate?) -> FrameRate {
    guard let demanded, demanded.isLower(than: fullRate) else { return fullRate }
    guard Self.lowestRate.isLower(than: fullRate) else { return fullRate }
    return demanded.isLower(than: Self.lowestRate) ? Self.lowestRate : demanded
  }
}

extension FrameRate {
  fileprivate func isLower(than other: FrameRate) -> Bool {
    Double(numerator) * Double(other.denominator) < Double(other.numerator) * Double(denominator)
  }
}

extension PixelRect {
  /// The rectangle in a picture of which each square of pixels becomes one: all squares that it
  /// touches.
  public func divided(by divisor: Int) -> PixelRect {
    let (left, top) = (x / divisor, y / divisor)
    return PixelRect(
      x: left, y: top, width: (x + width + divisor - 1) / divisor - left,
      height: (y + height + divisor - 1) / divisor - top)
  }
}
