import CommandLineSupport
import Platform

/// How the cost of a frame grows with subscribers, streams, bytes and the depth of the ring.
struct ScalingSuite: BenchSuite {
  let name = "scaling"

  func run(_ run: BenchRun) throws -> BenchReport {
    let subjects = try RingSubjects(run)
    defer { subjects.stopDaemons() }
    let duration: Duration = .seconds(run.seconds ?? 1)
    let rows = try run.rows(of: Self.scenarios, subjects.all) { scenario, subject in
      try RingTurn(subject: subject, scenario: scenario, duration: duration, stop: run.stop)
        .measure()
    }
    let heading = "\(name): \(run.rounds) rounds of \(duration), median (min–max)"
    return RingReport(suite: name, heading: heading, rows: rows).report
  }

  /// A user may have 56 of a stream's 64 subscribers.
  private static let scenarios =
    [1, 2, 4, 8, 16, 32, 56].map(subscribers) + [1, 2, 4, 8, 16, 32, 64].map(streams)
    + [64, 4096, 65_536, 1_048_576, 8_294_400, 33_177_600].map(bytes)
    + [2, 4, 8, 16, 32, 64].map(depth)

  private static func subscribers(_ count: Int) -> RingScenario {
    RingScenario(
      name: "\(count == 1 ? "1 subscriber" : "\(count) subscribers") of one stream, 64 B at 100 Hz",
      measure: .latency,
      bytes: RingScenario.smallBytes, framesPerSecond: 100, subscribers: count,
      scale: BenchScale(name: "event latency by subscribers of one stream", value: Double(count)))
  }

  private static func streams(_ count: Int) -> RingScenario {
    RingScenario(
      name: "\(count == 1 ? "1 stream" : "\(count) streams") with a subscriber each, 64 B at 60 Hz",
      measure: .latency,
      bytes: RingScenario.smallBytes, framesPerSecond: 60, streams: count,
      scale: BenchScale(
        name: "event latency by streams with a subscriber each", value: Double(count)))
  }

  private static func bytes(_ count: Int) -> RingScenario {
    RingScenario(
      name: "\(count) bytes filled and summed", measure: .rate, bytes: count, depth: 2,
      traits: [.fills, .lossless],
      scale: BenchScale(name: "frames filled and summed by bytes", value: Double(count)))
  }

  private static func depth(_ count: Int) -> RingScenario {
    RingScenario(
      name: "a ring of \(count) frames, 64 B, lossless", measure: .rate,
      bytes: RingScenario.smallBytes, depth: count, traits: .lossless,
      scale: BenchScale(name: "event rate by depth of the ring", value: Double(count)))
  }
}
