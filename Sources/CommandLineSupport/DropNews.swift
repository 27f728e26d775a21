/// When drops are worth a line of the log: at once, and then once a minute, so that a source that
/// is always too fast does not fill it.
package struct DropNews: Sendable {
  private var said: UInt64 = 0
  private var saidAtNs: UInt64?
  private static let intervalNs: UInt64 = 60_000_000_000

  package init() {}

  /// - Parameter total: how many there have been since the beginning.
  /// - Returns: how many are news; nil while there are none.
  package mutating func take(_ total: UInt64, nowNs: UInt64) -> UInt64? {
    guard total > said else { return nil }
    if let saidAtNs, nowNs &- saidAtNs < Self.intervalNs { return nil }
    defer { (said, saidAtNs) = (total, nowNs) }
    return total - said
  }
}
