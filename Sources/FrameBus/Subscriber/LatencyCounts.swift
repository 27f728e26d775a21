import CFrameLayout

/// A histogram of latencies from publish to receive, as in a subscriber's page.
///
/// Bucket i < 8 is for i nanoseconds. Above that, every power of two has four buckets of equal
/// width: bucket 4s + r, for r of 4…7, counts latencies in r·2ˢ ns ..< (r + 1)·2ˢ ns. The last
/// bucket, 127, also counts everything from 8.6 s on. So the error of a quantile is at most a
/// quarter.
public struct LatencyCounts: Hashable, Sendable {
  /// Counts modulo 2³² since the subscriber began.
  private var buckets: [UInt32]

  static let bucketCount = Int(FB_LATENCY_BUCKETS)

  /// A histogram without counts.
  public init() { buckets = Array(repeating: 0, count: Self.bucketCount) }

  /// - Parameter details: a copy of the subscriber's record, which is untrusted.
  init(_ details: fb_subscriber_details) {
    // SAFETY: the record has `bucketCount` 32-bit words.
    buckets = unsafe withUnsafeBytes(of: details.latencies) { bytes in
      (0..<Self.bucketCount).map { unsafe bytes.load(fromByteOffset: $0 * 4, as: UInt32.self) }
    }
  }

  /// The counts added since an earlier copy from the same subscriber.
  public func since(_ earlier: LatencyCounts) -> LatencyCounts {
    var result = self
    for index in buckets.indices { result.buckets[index] &-= earlier.buckets[index] }
    return result
  }

  /// The number of frames counted.
  public var total: UInt64 { buckets.reduce(0) { $0 + UInt64($1) } }

  /// The latency in nanoseconds that this share of the frames does not exceed, interpolated within
  /// its bucket; nil without frames.
  /// - Parameter share: 0.5 for the median.
  public func quantileNs(_ share: Double) -> UInt64? {
    let wanted = Double(total) * share
    var below = 0.0
    for (index, count) in buckets.enumerated() where count > 0 {
      let reached = below + Double(count)
      if reached >= wanted {
        let range = Self.range(ofBucket: index)
        let part = Double(range.count) * (wanted - below) / Double(count)
        return range.lowerBound + UInt64(part)
      }
      below = reached
    }
    return nil
  }

  mutating func count(_ latencyNs: UInt64) { buckets[Self.bucket(of: latencyNs)] &+= 1 }

  @inline(__always)
  static func bucket(of latencyNs: UInt64) -> Int {
    let bits = UInt64.bitWidth - latencyNs.leadingZeroBitCount
    let shift = max(0, bits - 3)
    return min(4 * shift + Int(latencyNs >> UInt64(shift)), bucketCount - 1)
  }

  /// The latencies that a bucket counts. The last bucket has no upper bound.
  static func range(ofBucket index: Int) -> Range<UInt64> {
    guard index >= 8 else { return UInt64(index)..<UInt64(index) + 1 }
    let shift = UInt64(index / 4 - 1)
    let first = UInt64(4 + index % 4) << shift
    return first..<first + 1 << shift
  }
}
