import Capture
import FrameBus
import TestSupport
import Testing

@Suite struct FramePacerTests {
  @Test func deadlinesLieOnTheExactGridAndNeverDrift() {
    var pacer = FramePacer(rate: FrameRate(30000, 1001), startNs: 1000)
    for index in UInt64(0)..<300_000 {
      if index % 30_000 == 0 {
        // 30,000 frames take exactly 1001 seconds.
        #expect(pacer.deadlineNs == 1000 + index / 30_000 * 1_001_000_000_000)
      }
      pacer.advance(nowNs: pacer.deadlineNs)
    }
    #expect(pacer.missedCount == 0)
  }

  @Test func delayBelowAnIntervalSkipsNothing() {
    var pacer = FramePacer(rate: FrameRate(10), startNs: 0)
    pacer.advance(nowNs: 199_999_999)
    #expect(pacer.deadlineNs == 100_000_000)
    #expect(pacer.missedCount == 0)
  }

  @Test func missedDeadlinesAreSkippedAndCounted() {
    var pacer = FramePacer(rate: FrameRate(10), startNs: 0)
    pacer.advance(nowNs: 550_000_000)
    #expect(pacer.deadlineNs == 500_000_000)
    #expect(pacer.missedCount == 4)
    pacer.advance(nowNs: 560_000_000)
    #expect(pacer.deadlineNs == 600_000_000)
    #expect(pacer.missedCount == 4)
  }

  @Test func idlePeriodMissesNoDeadline() {
    var pacer = FramePacer(rate: FrameRate(10), startNs: 0)
    pacer.restart(atNs: 9_000_000_000)
    #expect(pacer.deadlineNs == 9_000_000_000)
    #expect(pacer.missedCount == 0)
  }

  @Test func nextDeadlineIsNeverAWholeIntervalLate() {
    let seed = TestSeed(for: "FramePacerTests")
    var random = seed.generator
    for rate in [FrameRate(1), FrameRate(24000, 1001), FrameRate(60), FrameRate(240)] {
      var pacer = FramePacer(rate: rate, startNs: 5)
      var nowNs: UInt64 = 5
      var grid: UInt64 = 0
      for _ in 0..<10_000 {
        nowNs = max(nowNs, pacer.deadlineNs) + .random(in: 0...pacer.intervalNs * 3, using: &random)
        let before = pacer
        pacer.advance(nowNs: nowNs)
        grid += 1 + pacer.missedCount - before.missedCount
        #expect(pacer.deadlineNs > before.deadlineNs, "\(seed)")
        #expect(nowNs < pacer.deadlineNs + pacer.intervalNs + 1, "\(seed)")
      }
      let tick = 1_000_000_000 * UInt64(rate.denominator)
      let exact = UInt64(rate.numerator).dividingFullWidth(grid.multipliedFullWidth(by: tick))
      #expect(pacer.deadlineNs == 5 + exact.quotient, "\(seed)")
    }
  }
}
