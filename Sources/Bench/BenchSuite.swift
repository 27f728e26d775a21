import CommandLineSupport
import Platform

// Benchmarks: what a part of the product costs, beside the bare primitive under it and, where they
// are installed, beside other programs that do the same. One file of Suites/ is one suite.
//
// The module measures other processes from outside, by what the kernel says of them. It refuses to
// contain what it measures, and to judge: no figure passes or fails.

/// A suite of benchmarks, as `framebus bench NAME` runs it.
public protocol BenchSuite: Sendable {
  var name: String { get }
  /// Measures all its subjects in turns, and stops every program that it started.
  func run(_ run: BenchRun) throws -> BenchReport
}

/// Every suite there is, in the order in which `framebus bench all` runs them.
public let benchSuites: [any BenchSuite] = [
  RingSuite(), RingCallsSuite(), NotifySuite(), DefaultsSuite(), LogSuite(), CredentialSuite(),
  CaptureSuite(), RecordSuite(), UploadSuite(),
]

/// What one call of `framebus bench` asks of each suite.
public struct BenchRun: Sendable {
  /// How long each subject is measured in each round; nil for what the suite thinks fit.
  public let seconds: Double?
  /// How often all subjects take their turn.
  public let rounds: Int
  /// Whether programs of others are measured too, where they are installed.
  public let hasPeers: Bool
  let terminal: Terminal
  let stop: StopSignal

  /// How long a suite measures that counts in whole seconds.
  func wholeSeconds(or fallback: Int) -> Int { seconds.map { Int($0.rounded(.up)) } ?? fallback }

  /// - Parameter stop: ends the run early; what was started is stopped, and ``Interrupted`` thrown.
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

/// What a suite found.
public struct BenchReport: Sendable {
  public let records: [BenchRecord]
  /// The same for readers, with what the records have no place for.
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
  /// Written only where it was counted.
  public var syscalls_per_frame: Double?
  /// The most memory of their own that the subject's processes had together. Written only where
  /// it was measured.
  public var memory_bytes: UInt64?
  public let samples: Int

  init(suite: String, scenario: String, subject: String, samples: Int) {
    self.suite = suite
    self.scenario = scenario
    self.subject = subject
    self.samples = samples
  }

  private enum Key: String, CodingKey {
    case suite, scenario, subject, p50_ns, p99_ns, p999_ns, per_second, cpu_ns_per_frame, samples
    case syscalls_per_frame, memory_bytes
  }

  /// Written out, because a synthesised coder leaves out what is nil.
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
  }
}
