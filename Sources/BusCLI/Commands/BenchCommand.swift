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

      --compare reads what --json printed before, and lists the rows that changed beyond noise: \
      their rounds do not overlap, and their medians differ by more than 5 %. Where a row has a \
      limit, the ratios to it are compared, so that a slower machine is not a change.
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

  @Option(
    help: ArgumentHelp("Write a page with plots, for a browser.", valueName: "file"),
    completion: .file())
  var html: String?

  @Option(
    help: ArgumentHelp("Compare with the JSON of an earlier run.", valueName: "file"),
    completion: .file())
  var compare: String?

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
    // Before the run, which may take long.
    let earlier = try compare.map(Self.records)
    if let html { try OutputFile(html).checkWritable() }
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
    let comparison = earlier.map { BenchComparison(of: $0, to: records) }
    if let comparison, !global.json { for line in comparison.lines { try terminal.print(line) } }
    if let html {
      let page = BenchPage(records, command: command, comparison: comparison)
      let file = try OutputFile(html).lock()
      try file.setByteCount(0)
      try file.write(Array(page.text.utf8), at: 0, path: html)
    }
  }

  /// As a user would type it.
  private var command: String {
    var words = ["framebus bench"] + suites
    if peers { words.append("--peers") }
    if let seconds { words.append("--seconds \(seconds)") }
    return (words + ["--rounds \(rounds)"]).joined(separator: " ")
  }

  private static func records(in path: String) throws -> [BenchRecord] {
    let file = try ReadableFile(path: path)
    let bytes = try file.bytes(at: 0, count: maximumFileBytes)
    return try decodeJSON([BenchRecord].self, from: bytes, path: path)
  }

  private static let maximumFileBytes = 64 << 20
}
