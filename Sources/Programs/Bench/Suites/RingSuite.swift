import CommandLineSupport
import Platform

/// The latency and rate of frames between processes: FrameBus compared with a bare ring in the same
/// kind of memory (the baseline) and with peers.
struct RingSuite: BenchSuite {
  let name = "ring"

  func run(_ run: BenchRun) throws -> BenchReport {
    let subjects = try RingSubjects(run)
    defer { subjects.stopDaemons() }
    let duration: Duration = .seconds(run.seconds ?? 1)
    let rows = try run.rows(of: RingScenario.timed, subjects.all) { scenario, subject in
      try RingTurn(subject: subject, scenario: scenario, duration: duration, stop: run.stop)
        .measure()
    }
    let heading = "\(name): \(run.rounds) rounds of \(duration), median (min–max)"
    return RingReport(suite: name, heading: heading, rows: rows, baselines: baselines).report
  }

  /// The C interface is compared with the Swift API.
  private let baselines = ["limit", "iceoryx", "framebus"]
}

/// System calls of a publisher and a subscriber for each frame. A separate suite, because counting
/// them slows all processes down.
struct RingCallsSuite: BenchSuite {
  let name = "ring-calls"

  /// The calls of starting and ending are in both turns; their difference contains only frames.
  private static let shortSeconds = 1.0
  private static let lengthening = 3
  private static let furtherAttempts = 4

  func run(_ run: BenchRun) throws -> BenchReport {
    guard let strace = programInPath(named: "strace") else {
      throw StartedProgramError.missing("strace", package: "strace")
    }
    let subjects = try RingSubjects(run)
    defer { subjects.stopDaemons() }
    let short: Duration = .seconds(run.seconds ?? Self.shortSeconds)
    let rows = try run.rows(of: RingScenario.counted, subjects.all) { scenario, subject in
      func count(_ length: Duration) throws -> RingFinding {
        let turn = RingTurn(
          subject: subject, scenario: scenario, duration: length, stop: run.stop)
        return try measure(turn, strace)
      }
      func difference() throws -> RingFinding {
        let start = try count(short)
        return try count(short * Self.lengthening).subtracting(start)
      }
      var finding = try difference()
      // On a busy machine the longer turn can have fewer frames, which says nothing.
      for _ in 0..<Self.furtherAttempts where finding.frames <= 0 { finding = try difference() }
      return finding
    }
    let heading = "\(name): \(run.rounds) rounds, median (min–max)"
    return RingReport(suite: name, heading: heading, rows: rows).report
  }

  private func measure(_ turn: RingTurn, _ strace: String) throws -> RingFinding {
    let folder = try TemporaryFolder(prefix: "framebus-bench-ring-")
    defer { try? folder.remove() }
    func file(_ number: Int) -> String { "calls-\(number)" }
    var finding = try turn.measure(in: folder.path) { number in
      [strace, "-f", "-c", "-o", folder.path + "/" + file(number)]
    }
    let directory = try Directory(path: folder.path)
    let counts = try (0...turn.scenario.subscribers).map { number in
      let bytes = try directory.readFile(file(number), limit: 1 << 20).bytes
      return try Self.total(in: String(decoding: bytes, as: UTF8.self))
    }
    let ofSubscribers = Double(counts.dropFirst().reduce(0, +))
    finding.callCount = Double(counts[0]) + ofSubscribers / Double(max(1, counts.count - 1))
    return finding
  }

  /// Reads the call count from the last line of a summary by strace:
  /// `100.00  0.012  3  4711  12  total`.
  static func total(in summary: String) throws(NoFigures) -> Int {
    let line = summary.split(separator: "\n").last { $0.hasSuffix(" total") }
    let fields = line?.split(separator: " ") ?? []
    guard fields.count >= 5, let count = Int(fields[3]) else {
      throw NoFigures(program: "strace", text: summary)
    }
    return count
  }
}
