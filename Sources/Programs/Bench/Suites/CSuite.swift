import CommandLineSupport
import Platform

/// The cost of a frame through the C interface, beside the Swift API for the same work. The program
/// in C is one of `scripts/peers`.
struct CSuite: BenchSuite {
  let name = "c"

  private static let warmUps = 5

  func run(_ run: BenchRun) throws -> BenchReport {
    let subjects = [
      RingSubject(name: "c", path: try RingSubject.program("FrameBusRing", for: "c")),
      RingSubject(name: "swift", path: try RingSubject.own("BusRing", for: "swift")),
    ]
    let duration: Duration = .seconds(run.seconds ?? 1)
    let rows = try run.settledRows(of: RingScenario.inC, subjects, warmUps: Self.warmUps) {
      try RingTurn(subject: $1, scenario: $0, duration: duration, stop: run.stop).measure()
    }
    let heading = "\(name): \(run.rounds) rounds of \(duration), median (min–max)"
    return RingReport(
      suite: name, heading: heading, rows: rows, baselines: ["swift"], comparesProcessorTime: true
    ).report
  }
}

extension RingScenario {
  /// First those in which no process waits for another, which a busy machine disturbs least.
  fileprivate static let inC: [RingScenario] = [
    bothSides("64 B", smallBytes), bothSides("8.3 MB", largeBytes),
    idle(0), idle(8),
    polling("64 B", smallBytes), polling("8.3 MB", largeBytes, depth: 2),
    event("64 B at 1 kHz", smallBytes, 1000), event("8.3 MB at 60 Hz", largeBytes, 60, depth: 2),
    pollingRate, losslessRate, eventRate,
  ]

  /// Loan, publish, receive and release on one thread.
  private static func bothSides(_ size: String, _ bytes: Int) -> RingScenario {
    RingScenario(
      name: "\(size) from loan to release, on one thread", measure: .cost, bytes: bytes,
      subscribers: 0, depth: 2, traits: [.idles, .receives])
  }
}
