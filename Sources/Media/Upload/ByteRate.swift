/// The rate at which a count of bytes grows, over a second or more.
package struct ByteRate {
  private static let shortestNs: UInt64 = 1_000_000_000

  package private(set) var bitsPerSecond = 0
  private var countedNs: UInt64?
  private var byteCount: UInt64 = 0

  package init() {}

  package mutating func take(_ byteCount: UInt64, nowNs: UInt64) {
    let elapsedNs = countedNs.map { nowNs &- min(nowNs, $0) } ?? 0
    if countedNs != nil, elapsedNs < Self.shortestNs { return }
    if elapsedNs > 0 {
      let bits = Double(byteCount &- min(byteCount, self.byteCount)) * 8
      bitsPerSecond = Int(bits * 1e9 / Double(elapsedNs))
    }
    (countedNs, self.byteCount) = (nowNs, byteCount)
  }
}
