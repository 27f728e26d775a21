import ArgumentParser
import Bench
import CommandLineSupport
import Platform

/// `framebus bench`: what the parts cost on this machine, beside the bare primitives and peers.
struct BenchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench",
    abstract: "Measure what the product costs, beside bare primitives and other programs.",
    discussion: """
      Suites: \(benchSuites.map(\.name).joined(separator: ", ")). Each measures in rounds in which \
      all subjects take their turn: framebus, limit (the bare primitive without the product) and, \
      with --peers, other programs that are installed. Use a release build.
      """)

  @OptionGroup var global: GlobalOptions

  @Argument(help: "The suites to run, or all.")
  var suites: [String] = ["all"]

  @Flag(help: "Measure other programs too, where they are installed.")
  var peers = false

  @Option(
    help: ArgumentHelp(
      "How long each subject is measured in a round; by default what the suite thinks fit.",
      valueName: "n"))
  var seconds: Double?

  @Option(help: ArgumentHelp("How often all subjects take their turn.", valueName: "n"))
  var rounds = 5

  func validate() throws {
    guard (0.1...3600).contains(seconds ?? 1) else {
      throw ValidationError("--seconds is 0.1 to 3600")
    }
    guard (1...1000).contains(rounds) else { throw ValidationError("--rounds is 1 to 1000") }
    let names = benchSuites.map(\.name)
    for suite in suites where suite != "all" && !names.contains(suite) {
      throw ValidationError(
        "there is no suite \(suite); there are \(names.joined(separator: ", ")) and all")
    }
  }

  func run() throws {
    // First of all, so that no thread is without it.
    let signals = try SignalWatcher()
    let terminal = global.terminal
    #if DEBUG
      terminal.warn("this is a debug build: build with -c release for figures that mean something")
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
        // A stop makes whatever was under way fail: that failure is no news.
        if signals.stop.isRaised { throw Interrupted() }
        throw error
      }
    }
    if global.json { try terminal.printJSON(records) }
  }
}
