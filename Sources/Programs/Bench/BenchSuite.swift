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
  PythonSuite(), GStreamerSuite(),
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

/// One subject in one scenario. A figure that does not apply is null.
public struct BenchRecord: Encodable, Sendable {
  public let suite: String
  public let scenario: String
  /// `framebus`, `limit` (the bare primitive) or a peer's name.
  public let subject: String
  public var p50_ns: UInt64?
  public var p99_ns: UInt64?
  public var p999_ns: UInt64?
  public var per_second: Double?
  public var cpu_ns_per_frame: UInt64?
  /// Encoded only if it was counted.
  public var syscalls_per_frame: Double?
  /// The peak private memory of the subject's processes together. Encoded only if it was measured.
  public var memory_bytes: UInt64?
  /// Pictures that were shown and not captured, and the most of them in a row. Encoded only if they
  /// were counted.
  public var skipped: Int?
  public var longest_skip: Int?
  public let samples: Int

  init(suite: String, scenario: String, subject: String, samples: Int) {
    self.suite = suite
    self.scenario = scenario
    self.subject = subject
    self.samples = samples
  }

  private enum Key: String, CodingKey {
    case suite, scenario, subject, p50_ns, p99_ns, p999_ns, per_second, cpu_ns_per_frame, samples
    case syscalls_per_frame, memory_bytes, skipped, longest_skip
  }

  /// Written out, because a synthesised coder omits nil.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(suite, forKey: .suite)
    try container.encode(scenario, forKey: .scenario)
    try container.encode(subject, forKey: .subject)
    try container.encode(p50_ns, forKey: .p50_ns)
    try container.encode(p99_ns, forKey: .p99_ns)
    try container.encode(p999_ns, forKey: .p999_ns)
    try container.encode(per_second, forKey: .per_second)
    try container.encode(cpu_ns_per_frame, forKey: .cpu_ns_per_frame)
    try container.encode(samples, forKey: .samples)
    try container.encodeIfPresent(syscalls_per_frame, forKey: .syscalls_per_frame)
    try container.encodeIfPresent(memory_bytes, forKey: .memory_bytes)
    try container.encodeIfPresent(skipped, forKey: .skipped)
    try container.encodeIfPresent(longest_skip, forKey: .longest_skip)
  }
}
