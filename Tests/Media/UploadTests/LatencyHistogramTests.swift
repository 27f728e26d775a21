import TestSupport
import Testing

@testable import Upload

@Suite struct LatencyHistogramTests {
  @Test func emptyHistogramReturnsZero() {
    #expect(LatencyHistogram().quantile(0.5) == 0)
  }

  @Test func smallValuesAreExact() {
    var histogram = LatencyHistogram()
    for value in 0..<64 as Range<UInt64> { histogram.record(value) }
    #expect(histogram.quantile(0.5) == 31)
    #expect(histogram.quantile(1) == 63)
  }

  @Test func quantilesLieWithinOneBucketOfTheSortedValues() {
    let seed = TestSeed(for: "LatencyHistogramTests")
    var generator = seed.generator
    for _ in 0..<200 {
      var histogram = LatencyHistogram()
      let values = (0..<50).map { _ in
        UInt64.random(in: 0...(UInt64.max >> UInt64.random(in: 0...63, using: &generator)))
      }
      for value in values { histogram.record(value) }
      let sorted = values.sorted()
      for share in [0.02, 0.5, 0.99, 1] {
        let exact = sorted[max(0, Int((50 * share).rounded(.up)) - 1)]
        let answer = histogram.quantile(share)
        #expect(answer >= exact && answer - exact <= exact / 32 + 1, "\(seed.replay)")
      }
    }
  }
}
