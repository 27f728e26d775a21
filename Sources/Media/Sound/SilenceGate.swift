/// Limits long silence: after `limit` silent chunks in a row, further silent chunks do not pass.
/// A chunk that is not silent passes at once and resets the count.
public struct SilenceGate: Hashable, Sendable {
  /// Eight seconds.
  public static let usualLimit = 800

  private let limit: Int?
  private var silentCount = 0

  /// - Parameter limit: silent chunks in a row that pass; nil for no limit.
  public init(limit: Int? = usualLimit) { self.limit = limit }

  public mutating func passes(isSilent: Bool) -> Bool {
    silentCount = isSilent ? silentCount + 1 : 0
    return limit.map { silentCount <= $0 } ?? true
  }
}
