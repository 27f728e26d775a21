import AppGroup
import CommandLineSupport
import Platform

/// The cost of a log line for its caller, and the rate of lines, with and without durability:
/// FrameBus, by its own API and behind swift-log's Logger, compared with bare writes of many lines
/// each (the baseline), one write a line, and spdlog; also the cost of reading.
struct LogSuite: BenchSuite {
  let name = "log"

  private struct Subject {
    let name: String
    let path: String
  }

  private struct Scenario {
    let name: String
    /// The name of the work in LogKit.h.
    let work: String
    let lines: Int
  }

  private static let scenarios = [
    Scenario(name: "call", work: "call", lines: 100_000),
    Scenario(name: "lines", work: "rate", lines: 500_000),
    Scenario(name: "lines on the disk", work: "durable", lines: 200_000),
  ]

  /// The figures that a program of Benchmarks reports at its end.
  struct Figures: Decodable {
    let p50_ns: UInt64
    let p99_ns: UInt64
    let p999_ns: UInt64
    let per_second: Double
    let samples: Int
  }

  func run(_ run: BenchRun) throws -> BenchReport {
    let subjects = try subjects(run)
    defer { run.terminal.endProgress() }
    var records: [BenchRecord] = []
    var lines = ["\(name): \(run.rounds) rounds, 120-byte lines, median (min–max)"]
    for scenario in Self.scenarios {
      var figures: [[Figures]] = subjects.map { _ in [] }
      for round in 0..<run.rounds {
        // Alternating direction, so that no subject always follows the same one.
        let order = round % 2 == 0 ? Array(subjects.indices) : subjects.indices.reversed()
        for index in order {
          if run.stop.isRaised { throw Interrupted() }
          run.terminal.progress(
            "\(scenario.name), round \(round + 1) of \(run.rounds): \(subjects[index].name)")
          figures[index].append(try measure(subjects[index], scenario, run))
        }
      }
      lines += ["", scenario.name] + table(subjects, figures)
      records += zip(subjects, figures).map {
        record(scenario: scenario.name, subject: $0.name, $1)
      }
    }
    let reading = try readingReport(run)
    return BenchReport(records: records + reading.records, lines: lines + reading.lines)
  }

  /// Peers may be missing; FrameBus and the baseline may not.
  private func subjects(_ run: BenchRun) throws -> [Subject] {
    var subjects = try [
      ("framebus", "BusLog"), ("limit", "BareLog"), ("framebus, swift-log", "BusLogger"),
    ].map { name, program in
      guard let path = siblingProgram(named: program) else {
        throw MissingSubject(subject: name, program: program, remedy: "run `swift build`")
      }
      return Subject(name: name, path: path)
    }
    guard run.hasPeers else { return subjects }
    for (name, program) in [
      ("write", "BareLogWrite"), ("spdlog-async", "SpdlogAsync"), ("spdlog-sync", "SpdlogSync"),
    ] {
      if let path = siblingProgram(named: program) {
        subjects.append(Subject(name: name, path: path))
      } else {
        run.terminal.report("skipped \(name): not built; run scripts/peers")
      }
    }
    return subjects
  }

  private func measure(
    _ subject: Subject, _ scenario: Scenario, _ run: BenchRun
  ) throws -> Figures {
    try inGroup { root in
      try finish(
        StartedProgram(
          subject.name, subject.path, [scenario.work, root, "lines=\(scenario.lines)"]))
    }
  }

  /// Runs a turn in a group of its own.
  func inGroup(_ turn: (_ root: String) throws -> Figures) throws -> Figures {
    let folder = try TemporaryFolder(prefix: "framebus-bench-log-")
    defer { try? folder.remove() }
    _ = try AppGroup.create(.local, root: folder.path)
    return try turn(folder.path)
  }

  /// Waits for a program's end and reads its figures.
  func finish(_ program: StartedProgram) throws -> Figures {
    guard let status = program.process.wait(until: .after(.seconds(300))), status.isSuccess else {
      throw StartedProgramError.ended(
        program.name, program.process.end(), lastWords: program.lastWords)
    }
    return try lastObject(Figures.self, in: program.collectedOutput(), of: program.name)
  }

  private func table(_ subjects: [Subject], _ figures: [[Figures]]) -> [String] {
    var table = TextTable(["subject", "ns a call, p50", "p99", "k lines/s", "× limit"])
    for (subject, own) in zip(subjects, figures) {
      func spread(_ value: (Figures) -> Double) -> Spread { Spread(own.map(value)) }
      // Within a round, so that load on the machine affects both.
      let ratios = Spread(zip(own, figures[1]).map { $0.per_second / $1.per_second })
      table.add([
        subject.name, spread { Double($0.p50_ns) }.text(places: 0),
        spread { Double($0.p99_ns) }.text(places: 0),
        spread { $0.per_second }.text(in: 1000, places: 0), ratios.text(places: 2),
      ])
    }
    return table.lines
  }

  func record(scenario: String, subject: String, _ figures: [Figures]) -> BenchRecord {
    func median(_ value: (Figures) -> UInt64) -> UInt64 {
      UInt64(Spread(figures.map { Double(value($0)) }).median)
    }
    var record = BenchRecord(
      suite: name, scenario: scenario, subject: subject,
      samples: figures.reduce(0) { $0 + $1.samples })
    record.p50_ns = median(\.p50_ns)
    record.p99_ns = median(\.p99_ns)
    record.p999_ns = median(\.p999_ns)
    record.per_second = Spread(figures.map(\.per_second)).median.rounded()
    if scenario == "call" {
      record.set(rounds: figures.map { Double($0.p50_ns) }, unit: "ns")
    } else {
      record.set(rounds: figures.map(\.per_second), unit: "lines/s")
    }
    return record
  }
}
