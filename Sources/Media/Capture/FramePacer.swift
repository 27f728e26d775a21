import FrameBus

/// Computes when each frame is due, from absolute deadlines: one late frame delays no later frame.
///
/// A pure calculation over the times that the caller passes in; it never reads a clock.
public struct FramePacer: Hashable, Sendable {
  private let numerator: UInt64
  private let denominator: UInt64
  private var startNs: UInt64
  private var index: UInt64 = 0
  /// Deadlines that were skipped because they had already passed.
  public private(set) var missedCount: UInt64 = 0

  /// - Parameter rate: frames per second; must not be variable (0/1).
  public init(rate: FrameRate, startNs: UInt64) {
    precondition(rate.numerator > 0 && rate.denominator > 0, "\(rate) is not a constant frame rate")
    numerator = UInt64(rate.numerator)
    denominator = UInt64(rate.denominator)
    self.startNs = startNs
  }

  /// Nanoseconds between two frames, rounded down.
  public var intervalNs: UInt64 { 1_000_000_000 * denominator / numerator }

  /// The current deadline. The first is the start; the others follow one interval apart.
  public var deadlineNs: UInt64 { dueNs(index) }

  /// Advances to the next deadline that is not yet a whole interval late; counts the skipped
  /// ones.
  public mutating func advance(nowNs: UInt64) {
    index += 1
    guard dueNs(index + 1) <= nowNs else { return }
    // The last grid point at or before now, which is less than an interval ago.
    let scaled = (nowNs - startNs).multipliedFullWidth(by: numerator)
    var current = (1_000_000_000 * denominator).dividingFullWidth(scaled).quotient
    if dueNs(current) > nowNs { current -= 1 }
    missedCount += current - index
    index = current
  }

  /// Restarts at a time, as after an idle period; counts no missed deadlines.
  public mutating func restart(atNs nowNs: UInt64) {
    startNs = nowNs
    index = 0
  }

  /// start + index × 10⁹ × denominator / numerator, exact, so that rounding errors do not add up.
  private func dueNs(_ index: UInt64) -> UInt64 {
    let product = index.multipliedFullWidth(by: 1_000_000_000 * denominator)
    return startNs &+ numerator.dividingFullWidth(product).quotient
  }
}
