/// Adapts the encoder's bitrate to the loss that the receiver reports: the loss-based half of
/// Google Congestion Control (draft-ietf-rmcat-gcc-02, section 6), with bounds.
public struct BitrateControl: Hashable, Sendable {
  private let leastBitsPerSecond: Int
  public private(set) var maximum: Int
  public private(set) var bitsPerSecond: Int

  /// - Parameter maximum: the requested bitrate, which is also the initial one.
  public init(minimum: Int, maximum: Int) {
    leastBitsPerSecond = minimum
    self.maximum = maximum
    bitsPerSecond = maximum
  }

  public var minimum: Int { min(leastBitsPerSecond, maximum) }

  /// Changes the requested bitrate. One that was lowered for losses stays, unless it is higher.
  public mutating func limit(to maximum: Int) {
    let isAtMaximum = bitsPerSecond == self.maximum
    self.maximum = maximum
    bitsPerSecond = isAtMaximum ? maximum : min(maximum, max(minimum, bitsPerSecond))
  }

  /// Call this once for each report.
  /// - Returns: whether the bitrate has changed.
  public mutating func adapt(lostShare: Double) -> Bool {
    let before = bitsPerSecond
    let rate = Double(before)
    let wanted =
      switch lostShare {
      case ..<0.02: rate * 1.05
      case 0.1...: rate * (1 - 0.5 * min(lostShare, 1))
      default: rate
      }
    bitsPerSecond = min(maximum, max(minimum, Int(wanted)))
    return bitsPerSecond != before
  }
}
