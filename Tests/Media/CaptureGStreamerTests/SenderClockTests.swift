#if Media
  import Testing

  @testable import CaptureGStreamer

  /// A sender's time stamps on this machine's clock.
  @Suite struct SenderClockTests {
    private let ms: Int64 = 1_000_000

    /// 25 frames a second from 77 s on, by the sender; each arrives after a delay.
    private func placed(by clock: SenderClock, delaysMs: [Int64]) -> [Int64] {
      delaysMs.enumerated().map { index, delay in
        let sentNs = Int64(index) * 40 * ms
        return clock.place(77_000 * ms + sentNs, arrivedAtNs: UInt64(sentNs + delay * ms))
      }
    }

    @Test func distancesStayWhateverTheDelays() {
      let delays = (0..<250).map { Int64(20 + ($0 * 37) % 60) }
      let times = placed(by: SenderClock(), delaysMs: delays).suffix(200)
      for (earlier, later) in zip(times, times.dropFirst()) {
        #expect(abs(later - earlier - 40 * ms) <= ms)
      }
    }

    @Test func shortestWayOfTheFirstSecondCounts() {
      let delays: [Int64] = [90, 70, 20, 50] + Array(repeating: 60, count: 20)
      let times = placed(by: SenderClock(), delaysMs: delays)
      #expect(times.last == (23 * 40 + 20) * ms)
    }

    @Test func slowFirstSecondIsMadeUpForSlowly() {
      let times = placed(
        by: SenderClock(),
        delaysMs: Array(repeating: 300, count: 60) + Array(repeating: 20, count: 2_000))
      let delays = times.enumerated().map { $1 - Int64($0) * 40 * ms }
      #expect(delays[70] > 250 * ms)
      #expect(delays[2_000] < 50 * ms)
      #expect(zip(delays, delays.dropFirst()).allSatisfy { $0 - $1 <= 10 * ms })
    }

    @Test func restartedSenderIsPlacedAnew() {
      let clock = SenderClock()
      _ = clock.place(77_000 * ms, arrivedAtNs: 1_000_000_000)
      #expect(clock.place(5 * ms, arrivedAtNs: 2_000_000_000) == 2_000 * ms)
      #expect(clock.place(45 * ms, arrivedAtNs: 2_040_000_000) == 2_040 * ms)
    }

    @Test func extremeTimesAreHarmless() {
      let clock = SenderClock()
      for pts in [0, Int64.max / 2, 0, Int64.max / 2 - 1] {
        for arrival in [0, UInt64.max, 1] { _ = clock.place(pts, arrivedAtNs: arrival) }
      }
    }

    @Test func reportIsBelievedIfItMakesSense() {
      let clock = SenderClock()
      func captured(_ reported: Int64?) -> Int64 {
        clock.captured(
          1_000 * ms, placedAtNs: 9_000 * ms, arrivedAtNs: 9_010_000_000,
          reportedOffsetNs: reported)
      }
      #expect(captured(nil) == 9_000 * ms)
      #expect(captured(7_800 * ms) == 8_800 * ms)
      // Of the future, too old, or of no use.
      for offset in [8_020 * ms, 2_000 * ms, .max, .min] { #expect(captured(offset) == 9_000 * ms) }
      let late = clock.captured(0, placedAtNs: 50, arrivedAtNs: 40, reportedOffsetNs: nil)
      #expect(late == 40)
    }
  }
#endif
