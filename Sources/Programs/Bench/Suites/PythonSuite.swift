import CommandLineSupport
import Platform

/// Frames between Python programs: the package framebus, the Swift API for the same work, and
/// iceoryx2's wheel. The programs are those of `scripts/python bench`.
struct PythonSuite: BenchSuite {
  let name = "python"

  func run(_ run: BenchRun) throws -> BenchReport {
    let subjects = try RingSubjects(
      run, own: [try .python(), try .swift()], peers: [{ try .iceoryx2() }])
    defer { subjects.stopDaemons() }
    let duration: Duration = .seconds(run.seconds ?? 1)
    let rows = try run.rows(of: RingScenario.python, subjects.all) { scenario, subject in
      try RingTurn(subject: subject, scenario: scenario, duration: duration, stop: run.stop)
        .measure()
    }
    let heading = "\(name): \(run.rounds) rounds of \(duration), median (min–max)"
    return RingReport(suite: name, heading: heading, rows: rows, baselines: ["swift", "iceoryx2"])
      .report
  }
}

extension RingScenario {
  fileprivate static let python: [RingScenario] = [
    latency("polling latency 64 B at 5 kHz", smallBytes, 5000, .polls),
    latency("polling latency 8.3 MB at 5 kHz", largeBytes, 5000, .polls),
    latency("event latency 64 B at 1 kHz", smallBytes, 1000),
    latency("event latency 8.3 MB at 60 Hz", largeBytes, 60),
    latency("8.3 MB filled and summed at 20 Hz", largeBytes, 20, .fills),
    RingScenario(
      name: "publish cost, idle subscribers: 1", measure: .cost, bytes: smallBytes,
      traits: .idles),
  ]

  private static func latency(
    _ name: String, _ bytes: Int, _ framesPerSecond: Int, _ traits: Traits = []
  ) -> RingScenario {
    RingScenario(
      name: name, measure: .latency, bytes: bytes, framesPerSecond: framesPerSecond, depth: 2,
      traits: traits)
  }
}

extension RingSubject {
  fileprivate static func python() throws(MissingSubject) -> RingSubject {
    RingSubject(name: "framebus", path: try made("PythonFramebus", for: "framebus"))
  }

  fileprivate static func swift() throws(MissingSubject) -> RingSubject {
    RingSubject(name: "swift", path: try own("BusRing", for: "swift"))
  }

  fileprivate static func iceoryx2() throws(MissingSubject) -> RingSubject {
    RingSubject(name: "iceoryx2", path: try made("PythonIceoryx2", for: "iceoryx2"))
  }

  private static func made(
    _ program: String, for name: String
  ) throws(MissingSubject) -> String {
    if let path = siblingProgram(named: program) { return path }
    throw MissingSubject(
      subject: name, program: program,
      remedy: "make it: scripts/python bench with the directory of framebus")
  }
}
