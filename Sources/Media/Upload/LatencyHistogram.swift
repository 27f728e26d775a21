/// Counts latencies in buckets that grow with the value, so that quantiles are accurate to 3 % from
/// nanoseconds to hours, in constant memory.
///
/// Values below 64 have one bucket each; above, each power of two is divided into 32 buckets.
public struct LatencyHistogram: Sendable {
  private static let stepBits = 5
  private static let steps = 1 << stepBits

  private var buckets = [UInt64](repeating: 0, count: (64 - stepBits) * steps + steps)
  public private(set) var count: UInt64 = 0
  private var largest: UInt64 = 0

  public init() {}

  public mutating func record(_ valueNs: UInt64) {
    buckets[Self.bucket(of: valueNs)] += 1
    count += 1
    largest = max(largest, valueNs)
  }

  /// The smallest latency that at least this share of the values does not exceed; 0 if empty.
  /// - Parameter share: 0.5 for the median.
  public func quantile(_ share: Double) -> UInt64 {
    guard count > 0 else { return 0 }
    let wanted = max(1, UInt64((Double(count) * share).rounded(.up)))
    var seen: UInt64 = 0
    for (index, number) in buckets.enumerated() {
      seen += number
      if seen >= wanted { return min(Self.upperBound(ofBucket: index), largest) }
    }
    return largest
  }

  private static func bucket(of value: UInt64) -> Int {
    let bits = UInt64.bitWidth - value.leadingZeroBitCount
    let shift = max(0, bits - stepBits - 1)
    return shift * steps + Int(value >> UInt64(shift))
  }

  private static func upperBound(ofBucket index: Int) -> UInt64 {
    let shift = max(0, index / steps - 1)
    let base = UInt64(index - shift * steps)
    let size = UInt64(1) << UInt64(shift)
    return (base << UInt64(shift)) &+ (size - 1)
  }
}
