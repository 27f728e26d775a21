import CommandLineSupport
import Platform

// Benchmarks: the cost of a part of the product, compared with the bare primitive below it (the
// baseline) and with other programs for the same task, if they are installed. Each file in Suites/
// is one suite.
//
// The module measures other processes from outside, by the kernel's accounting. It refuses to
// contain the code that it measures, and to judge: a figure neither passes nor fails.

/// A benchmark suite, run by `framebus bench NAME`.
public protocol BenchSuite: Sendable {
  var name: String { get }
  /// Measures all its subjects in turns, and stops all programs that it started.
  func run(_ run: BenchRun) throws -> BenchReport
}

/// All suites, in the order in which `framebus bench all` runs them.
public let benchSuites: [any BenchSuite] = [
  RingSuite(), RingCallsSuite(), CSuite(), NotifySuite(), DefaultsSuite(), LogSuite(),
  CredentialSuite(), CaptureSuite.bus, CaptureSuite.windows, WaylandSuite.pacing, DemandSuite(),
  RecordSuite(), UploadSuite(), DestinationsSuite(), CameraSuite(), BitrateSuite(),
  PythonSuite(), GStreamerSuite(), LinkSuite(),
]

/// The options of one `framebus bench` command.
public struct BenchRun: Sendable {
  /// How long each subject is measured in each round; nil for the suite's default.
  public let seconds: Double?
  /// The number of rounds; all subjects take one turn in each.
  public let rounds: Int
  /// Whether installed programs of other projects are measured too.
  public let hasPeers: Bool
  let terminal: Terminal
  let stop: StopSignal

  /// The duration for suites that count in whole seconds.
  func wholeSeconds(or fallback: Int) -> Int { seconds.map { Int($0.rounded(.up)) } ?? fallback }

  /// - Parameter stop: ends the run early: all programs are stopped, and ``Interrupted`` is thrown.
  package init(
    seconds: Double?, rounds: Int, hasPeers: Bool, terminal: Terminal, stop: StopSignal
  ) {
    self.seconds = seconds
    self.rounds = rounds
    self.hasPeers = hasPeers
    self.terminal = terminal
    self.stop = stop
  }
}

/// The results of a suite.
public struct BenchReport: Sendable {
  public let records: [BenchRecord]
  /// The same as text, with details that the records do not contain.
  public let lines: [String]
}
