import Platform

/// Counts in a subscriber's page how long frames took from publish to receive, for `framebus top`.
///
/// Reading the clock costs a third of what receiving a small frame does, so not every frame is
/// timed. One that was published half a millisecond or more after the frame received before it
/// always is: such streams are slow enough to need each of their frames for a figure. Of the others
/// one in 64 is, chosen by a hash of its number, so that no rhythm of the stream can hide from the
/// choice, and it counts for 64. So every frame counts once on average, whatever the pace, and
/// quantiles are unbiased.
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

  /// Multiplicative hashing by 2⁶⁴ / φ (Knuth, TAOCP 6.4): the chosen numbers lie evenly, and in
  /// no rhythm.
  @inline(__always)
  static func isChosen(_ sequence: UInt64) -> Bool {
    (sequence &* 0x9e37_79b9_7f4a_7c15) >> (64 - thinningBits) == 0
  }

  private static func count(_ weight: UInt32, _ publishedAtNs: UInt64, in page: SubscriberPage) {
    let nowNs = monotonicNowNs()
    // A time from the future is another machine's clock, or a lie.
    guard publishedAtNs <= nowNs else { return }
    let word = page.latency(LatencyCounts.bucket(of: nowNs - publishedAtNs))
    // Relaxed: one writer, a statistic. Wraps: readers take differences.
    word.storeRelaxed(word.loadRelaxed() &+ weight)
    crashPoint(.latencyCounted)
  }
}
