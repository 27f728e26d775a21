/// Holds back what nobody would hear: after so many silent chunks in a row, further ones are not
/// let through until one comes that is not silent, which passes at once.
public struct SilenceGate: Hashable, Sendable {
  /// Eight seconds.
  public static let usualLimit = 800

  private let limit: Int?
  private var silentCount = 0

  /// - Parameter limit: silent chunks that pass; nil for all.
  public init(limit: Int? = usualLimit) { self.limit = limit }

  public mutating func passes(isSilent: Bool) -> Bool {
    silentCount = isSilent ? silentCount + 1 : 0
    return limit.map { silentCount <= $0 } ?? true
  }
}
