/// One subject in one scenario. A figure that does not apply is null.
public struct BenchRecord: Codable, Sendable {
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
  /// The row's main figure in each round, which shows how much it varies. Encoded only if the suite
  /// has rounds of figures.
  public private(set) var rounds: [Double]?
  /// The unit of `rounds`: `ns`, or a count for each second, such as `frames/s`.
  public private(set) var unit: String?
  /// The least value, 99 percentiles and the greatest value of all samples.
  public var quantiles_ns: [UInt64]?
  /// Encoded only for a row of a scale.
  public var scale: BenchScale?
  public let samples: Int

  init(suite: String, scenario: String, subject: String, samples: Int) {
    self.suite = suite
    self.scenario = scenario
    self.subject = subject
    self.samples = samples
  }

  mutating func set(rounds: [Double], unit: String) {
    // Figures have fewer digits than a floating-point number.
    self.rounds = rounds.map { ($0 * 1000).rounded() / 1000 }
    self.unit = unit
  }

  private enum CodingKeys: String, CodingKey {
    case suite, scenario, subject, p50_ns, p99_ns, p999_ns, per_second, cpu_ns_per_frame, samples
    case syscalls_per_frame, memory_bytes, skipped, longest_skip, rounds, unit, quantiles_ns, scale
  }

  /// Written out, because a synthesised coder omits nil.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
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
    try container.encodeIfPresent(rounds, forKey: .rounds)
    try container.encodeIfPresent(unit, forKey: .unit)
    try container.encodeIfPresent(quantiles_ns, forKey: .quantiles_ns)
    try container.encodeIfPresent(scale, forKey: .scale)
  }
}

/// The place of a row among rows that differ in one number.
public struct BenchScale: Codable, Hashable, Sendable {
  /// What the rows show, such as `event latency by number of subscribers`.
  public let name: String
  public let value: Double
}
