/// Adapts the encoder's bitrate to the loss that the receiver reports: the loss-based half of
/// Google Congestion Control (draft-ietf-rmcat-gcc-02, section 6), with bounds.
public struct BitrateControl: Hashable, Sendable {
  public let minimum: Int
  public let maximum: Int
  public private(set) var bitsPerSecond: Int

  /// - Parameter maximum: the requested bitrate, which is also the initial one.
  public init(minimum: Int, maximum: Int) {
    self.minimum = min(minimum, maximum)
    self.maximum = maximum
    bitsPerSecond = maximum
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
