import CommandLineSupport
import Platform

/// The measurements of all subjects in one scenario, one for each round.
struct RingRow: Sendable {
  let scenario: RingScenario
  var columns: [Column] = []

  struct Column: Sendable {
    let subject: RingSubject
    var rounds: [RingFinding]
  }
}

/// The available subjects and the daemons that they need.
struct RingSubjects {
  let all: [RingSubject]
  private let daemons: [StartedProgram]

  init(_ run: BenchRun) throws {
    try self.init(
      run, own: [try RingSubject.framebus(), try RingSubject.limit()],
      peers: RingSubject.Peer.allCases.map { peer in { try RingSubject.peer(peer) } })
  }

  /// - Parameter peers: each throws if it is not installed, and is then left out.
  init(_ run: BenchRun, own: [RingSubject], peers: [() throws -> RingSubject]) throws {
    var all = own
    var daemons: [StartedProgram] = []
    for find in run.hasPeers ? peers : [] {
      do {
        let subject = try find()
        if let daemon = subject.daemon { daemons.append(try Self.start(daemon, run.stop)) }
        all.append(subject)
      } catch  where !run.stop.isRaised {
        run.terminal.report("skipped \(error)")
      }
    }
    self.all = all
    self.daemons = daemons
  }

  func stopDaemons() { for daemon in daemons { daemon.stop() } }

  private static func start(
    _ daemon: RingSubject.Daemon, _ stop: StopSignal
  ) throws -> StartedProgram {
    let greeted = try StopSignal()
    let program = try StartedProgram(daemon.name, daemon.path, daemon.arguments) { line in
      if line.contains(daemon.greeting) { greeted.raise() }
    }
    let watched = [
      greeted.descriptorNumber, stop.descriptorNumber, program.process.descriptorNumber,
    ]
    let found = try waitUntilReadable(watched, until: .after(.seconds(30)))
    if found[0] { return program }
    defer { program.stop() }
    if found[1] { throw Interrupted() }
    throw program.errorIfEnded() ?? StuckProcess(name: daemon.name, failure: "did not become ready")
  }
}

extension BenchRun {
  /// Measures every subject in one scenario after the other, each after rounds that do not count:
  /// until all subjects repeat their figure of the round before, or at most `warmUps`.
  func settledRows(
    of scenarios: [RingScenario], _ subjects: [RingSubject], warmUps: Int,
    measure: (RingScenario, RingSubject) throws -> RingFinding
  ) throws -> [RingRow] {
    try scenarios.flatMap { scenario in
      let supported = subjects.filter { $0.supports(scenario) }
      var former: [Double] = []
      for warmUp in 1...warmUps {
        terminal.progress("warm-up \(warmUp) of \(warmUps) at most: \(scenario.name)")
        let figures = try supported.map {
          scenario.measure.figure(try measure(scenario, $0)) ?? 0
        }
        defer { former = figures }
        if former.count == figures.count, zip(former, figures).allSatisfy(Self.agree) { break }
      }
      return try rows(of: [scenario], supported, measure: measure)
    }
  }

  /// Within a tenth.
  private static func agree(_ one: Double, _ other: Double) -> Bool {
    abs(one - other) <= max(one, other) / 10
  }

  /// Measures every subject in every scenario, once in each round.
  func rows(
    of scenarios: [RingScenario], _ subjects: [RingSubject],
    measure: (RingScenario, RingSubject) throws -> RingFinding
  ) throws -> [RingRow] {
    var rows = scenarios.map { scenario in
      RingRow(
        scenario: scenario,
        columns: subjects.filter { $0.supports(scenario) }.map {
          RingRow.Column(subject: $0, rounds: [])
        })
    }
    defer { terminal.endProgress() }
    for round in 0..<rounds {
      for row in rows.indices {
        let scenario = rows[row].scenario
        // Alternating direction, so that no subject always follows the same one.
        let indices = rows[row].columns.indices
        for column in round % 2 == 0 ? Array(indices) : indices.reversed() {
          let subject = rows[row].columns[column].subject
          // A subject that failed once is left out of later rounds.
          guard rows[row].columns[column].rounds.count == round else { continue }
          terminal.progress("round \(round + 1) of \(rounds): \(scenario.name): \(subject.name)")
          do {
            rows[row].columns[column].rounds.append(try measure(scenario, subject))
          } catch  where subject.isPeer && !stop.isRaised {
            terminal.report("skipped \(subject.name), \(scenario.name): \(error)")
          }
        }
      }
    }
    // A subject without a measurement in each round cannot be compared.
    for row in rows.indices { rows[row].columns.removeAll { $0.rounds.count < rounds } }
    return rows
  }
}
