import Testing

@testable import Bench

@Suite struct RingFiguresTests {
  private func publisher(_ text: String) throws -> RingFigures {
    try #require(RingFigures(in: text))
  }

  @Test func figuresAreReadFromTheLastFiguresLine() throws {
    let output = """
      version ZeroMQ 4.3.4, cc -O2
      ready
      figures frames=12 lost=3 elapsed_ns=2000 cpu_ns=1200 values=100:2,250:1,

      """
    let figures = try publisher(output)
    #expect(figures.version == "ZeroMQ 4.3.4, cc -O2")
    #expect((figures.frames, figures.lost) == (12, 3))
    #expect((figures.elapsedNs, figures.processorNs) == (2000, 1200))
    #expect(figures.values.map(\.ns) == [100, 250] && figures.values.map(\.count) == [2, 1])
    #expect(RingFigures(in: "ready\n") == nil)
    #expect(RingFigures(in: "figures coffee\n") == nil)
  }

  @Test func latenciesCombineAllSubscribers() throws {
    let publisher = try publisher("figures frames=4 elapsed_ns=4000 cpu_ns=10 values=\n")
    let first = try self.publisher("figures frames=4 cpu_ns=20 values=100:3,900:1,\n")
    let second = try self.publisher("figures frames=2 cpu_ns=30 values=50:1,800:1,\n")
    let finding = RingFinding(
      publishers: [publisher], subscribers: [first, second], measure: .latency)
    #expect(finding.samples == 6 && finding.frames == 3)
    #expect(finding.p50 == 100 && finding.p99 == 900)
    #expect(finding.framesPerSecond == 750_000 && finding.processorNsPerFrame == 20)
  }

  @Test(arguments: [(9_999, false), (10_000, true)])
  func p999NeedsTenThousandSamples(_ count: Int, _ isReported: Bool) throws {
    let figures = try publisher("figures frames=1 values=7:\(count),\n")
    let finding = RingFinding(
      publishers: [RingFigures()], subscribers: [figures], measure: .latency)
    #expect((finding.p999 != nil) == isReported)
  }

  @Test func callCountIsTheFourthColumnOfTheTotal() throws {
    let summary = """
      % time     seconds  usecs/call     calls    errors syscall
      ------ ----------- ----------- --------- --------- ----------------
       99.00    0.004012           3      1200        12 futex
      ------ ----------- ----------- --------- --------- ----------------
      100.00    0.004052           3      1234        12 total

      """
    #expect(try RingCallsSuite.total(in: summary) == 1234)
    #expect(throws: (any Error).self) { try RingCallsSuite.total(in: "strace: no process") }
  }
}
