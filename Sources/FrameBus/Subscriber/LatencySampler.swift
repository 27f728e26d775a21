import Platform

/// Counts latencies from publish to receive in a subscriber's page, for `framebus top`.
///
/// Reading the clock costs a third of receiving a small frame, so not every frame is timed. A frame
/// published half a millisecond or more after the previous received frame is always timed, because
/// slow streams need every sample. Of the others, one in 64 is timed and counts for 64. A hash of
/// the sequence number chooses it, so that no periodicity of the stream biases the choice. On
/// average every frame counts once at any rate, and quantiles are unbiased.
struct LatencySampler {
  private static let pauseNs: UInt64 = 500_000
  /// One in `1 << thinningBits` frames of a fast stream is timed.
  static let thinningBits: UInt64 = 6

  private var newestPublishedAtNs: UInt64 = 0

  @inline(__always)
  mutating func note(_ sequence: UInt64, publishedAtNs: UInt64, in page: SubscriberPage) {
    let pauseNs = publishedAtNs &- newestPublishedAtNs
    newestPublishedAtNs = publishedAtNs
    if pauseNs >= Self.pauseNs {
      Self.count(1, publishedAtNs, in: page)
    } else if Self.isChosen(sequence) {
      Self.count(1 << UInt32(Self.thinningBits), publishedAtNs, in: page)
    }
  }

  /// Multiplicative hashing by 2⁶⁴ / φ (Knuth, TAOCP 6.4): the chosen numbers are spread evenly
  /// without a period.
  @inline(__always)
  static func isChosen(_ sequence: UInt64) -> Bool {
    (sequence &* 0x9e37_79b9_7f4a_7c15) >> (64 - thinningBits) == 0
  }

  private static func count(_ weight: UInt32, _ publishedAtNs: UInt64, in page: SubscriberPage) {
    let nowNs = monotonicNowNs()
    // A time in the future is invalid.
    guard publishedAtNs <= nowNs else { return }
    let word = page.latency(LatencyCounts.bucket(of: nowNs - publishedAtNs))
    // Relaxed: one writer, a statistic. Wraps: readers take differences.
    word.storeRelaxed(word.loadRelaxed() &+ weight)
    crashPoint(.latencyCounted)
  }
}
