import FrameBus

/// Says when each frame is due, by absolute deadlines: being late once delays nothing after it.
///
/// A pure calculation over the moments that the caller passes in; it never looks at a clock.
public struct FramePacer: Hashable, Sendable {
  private let numerator: UInt64
  private let denominator: UInt64
  private var startNs: UInt64
  private var index: UInt64 = 0
  /// Deadlines that were skipped because they had passed before anyone asked for them.
  public private(set) var missedCount: UInt64 = 0

  /// - Parameter rate: frames a second; must not be variable (0/1).
  public init(rate: FrameRate, startNs: UInt64) {
    precondition(rate.numerator > 0 && rate.denominator > 0, "\(rate) is no steady frame rate")
    numerator = UInt64(rate.numerator)
    denominator = UInt64(rate.denominator)
    self.startNs = startNs
  }

  /// Nanoseconds between two frames, rounded down.
  public var intervalNs: UInt64 { 1_000_000_000 * denominator / numerator }

  /// The current deadline: the start, then one interval after another.
  public var deadlineNs: UInt64 { dueNs(index) }

  /// Moves on to the next deadline that is not a whole interval late already; skipped ones
  /// are counted.
  public mutating func advance(nowNs: UInt64) {
    index += 1
    guard dueNs(index + 1) <= nowNs else { return }
    // The last grid point at or before now: due a fraction of an interval ago.
    let scaled = (nowNs - startNs).multipliedFullWidth(by: numerator)
    var current = (1_000_000_000 * denominator).dividingFullWidth(scaled).quotient
    if dueNs(current) > nowNs { current -= 1 }
    missedCount += current - index
    index = current
  }

  /// Begins again at a moment, as after an idle time: nothing was missed.
  public mutating func restart(atNs nowNs: UInt64) {
    startNs = nowNs
    index = 0
  }

  /// start + index × 10⁹ × denominator / numerator, exactly, so that rounding never adds up.
  private func dueNs(_ index: UInt64) -> UInt64 {
    let product = index.multipliedFullWidth(by: 1_000_000_000 * denominator)
    return startNs &+ numerator.dividingFullWidth(product).quotient
  }
}
