/// Limits log lines about drops: the first at once, then one per minute, so that a source that is
/// always too fast does not fill the log.
package struct DropNews: Sendable {
  private var said: UInt64 = 0
  private var saidAtNs: UInt64?
  private static let intervalNs: UInt64 = 60_000_000_000

  package init() {}

  /// - Parameter total: the number of drops since the start.
  /// - Returns: the number of drops not reported yet; nil if no report is due.
  package mutating func take(_ total: UInt64, nowNs: UInt64) -> UInt64? {
    guard total > said else { return nil }
    if let saidAtNs, nowNs &- saidAtNs < Self.intervalNs { return nil }
    defer { (said, saidAtNs) = (total, nowNs) }
    return total - said
  }
}
