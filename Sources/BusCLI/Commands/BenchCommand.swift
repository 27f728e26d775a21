import ArgumentParser
import Bench
import CommandLineSupport
import Platform

/// `framebus bench`: the cost of each part on this machine, compared with bare primitives and
/// peers.
struct BenchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench",
    abstract: "Measure FrameBus against bare primitives and peers.",
    discussion: """
      Suites: \(benchSuites.map(\.name).joined(separator: ", ")). Each runs in rounds; in each \
      round, every subject takes one turn: framebus, limit (the bare primitive without FrameBus) \
      and, with --peers, other installed programs. Use a release build.
      """)

  @OptionGroup var global: GlobalOptions

  @Argument(help: "Suites to run, or all.")
  var suites: [String] = ["all"]

  @Flag(help: "Also measure other installed programs.")
  var peers = false

  @Option(
    help: ArgumentHelp(
      "Seconds for each turn (default: depends on the suite).",
      valueName: "n"))
  var seconds: Double?

  @Option(help: ArgumentHelp("Number of rounds.", valueName: "n"))
  var rounds = 5

  func validate() throws {
    guard (0.1...3600).contains(seconds ?? 1) else {
      throw ValidationError("--seconds: use 0.1 to 3600")
    }
    guard (1...1000).contains(rounds) else { throw ValidationError("--rounds: use 1 to 1000") }
    let names = benchSuites.map(\.name)
    for suite in suites where suite != "all" && !names.contains(suite) {
      throw ValidationError(
        "unknown suite \(suite); use \(names.joined(separator: ", ")) or all")
    }
  }

  func run() throws {
    // Before any thread starts, so that the signals are blocked in all threads.
    let signals = try SignalWatcher()
    let terminal = global.terminal
    #if DEBUG
      terminal.warn("this is a debug build; build with -c release for meaningful figures")
    #endif
    let run = BenchRun(
      seconds: seconds, rounds: rounds, hasPeers: peers, terminal: terminal, stop: signals.stop)
    var records: [BenchRecord] = []
    for suite in benchSuites where suites.contains("all") || suites.contains(suite.name) {
      do {
        let report = try suite.run(run)
        records += report.records
        if !global.json { for line in report.lines { try terminal.print(line) } }
      } catch {
        // A stop makes the current suite fail; that failure is not reported.
        if signals.stop.isRaised { throw Interrupted() }
        throw error
      }
    }
    if global.json { try terminal.printJSON(records) }
  }
}
