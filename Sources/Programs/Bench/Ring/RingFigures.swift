/// The figures of one process in a turn, from the lines that RingKit writes at its end.
struct RingFigures: Hashable, Sendable {
  /// The library version, and how the program was compiled.
  var version = ""
  var frames = 0
  /// Frames between the first and the last received that did not arrive.
  var lost = 0
  var elapsedNs: UInt64 = 0
  var processorNs: UInt64 = 0
  /// Each measured value and its count, in ascending order.
  var values: [Value] = []

  struct Value: Hashable, Sendable {
    let ns: UInt64
    let count: Int
  }

  init() {}

  /// - Returns: nil if the output has no figures.
  init?(in output: String) {
    let lines = output.split(separator: "\n")
    guard let line = lines.last(where: { $0.hasPrefix("figures ") }) else { return nil }
    let version = lines.first { $0.hasPrefix("version ") } ?? ""
    self.version = String(version.dropFirst("version ".count))
    for field in line.split(separator: " ").dropFirst() {
      let parts = field.split(separator: "=", omittingEmptySubsequences: false)
      guard parts.count == 2 else { return nil }
      switch parts[0] {
      case "frames": frames = Int(parts[1]) ?? 0
      case "lost": lost = Int(parts[1]) ?? 0
      case "elapsed_ns": elapsedNs = UInt64(parts[1]) ?? 0
      case "cpu_ns": processorNs = UInt64(parts[1]) ?? 0
      case "values":
        values = parts[1].split(separator: ",").compactMap { value in
          let pair = value.split(separator: ":")
          guard pair.count == 2, let ns = UInt64(pair[0]), let count = Int(pair[1])
          else { return nil }
          return Value(ns: ns, count: count)
        }
      default: return nil
      }
    }
  }
}

/// The measurements of one subject in one scenario and one round.
struct RingFinding: Sendable {
  private(set) var frames: Int
  let framesPerSecond: Double
  let processorNsPerFrame: Double
  /// The values of the processes that measured, in ascending order.
  private let values: [RingFigures.Value]
  let samples: Int
  /// Counted system calls: those of the publisher and, on average, of one subscriber.
  var callCount = 0.0
  let version: String

  /// The minimum for a meaningful 99.9th percentile.
  private static let samplesForP999 = 10_000

  /// - Parameter publishers: of all streams, each of which has as many subscribers.
  init(publishers: [RingFigures], subscribers: [RingFigures], measure: RingScenario.Measure) {
    let audience = max(1, subscribers.count / max(1, publishers.count))
    let received = subscribers.map(\.frames).reduce(0, +) / audience
    let published = publishers.map(\.frames).reduce(0, +)
    frames = measure == .latency || measure == .rate ? received : published
    let elapsedNs = publishers.map(\.elapsedNs).max() ?? 0
    framesPerSecond = Double(frames) * 1e9 / Double(max(1, elapsedNs))
    let processorNs = (publishers + subscribers).map(\.processorNs).reduce(0, +)
    processorNsPerFrame = Double(processorNs) / Double(max(1, frames))
    let isOfPublisher = measure == .cost || measure == .last
    values = (publishers + (isOfPublisher ? [] : subscribers)).flatMap(\.values)
      .sorted { $0.ns < $1.ns }
    version = publishers.first?.version ?? ""
    samples = measure == .rate || measure == .posts ? frames : values.map(\.count).reduce(0, +)
  }

  /// The frames and calls of a longer turn minus those of a shorter one.
  func subtracting(_ shorter: RingFinding) -> RingFinding {
    var difference = self
    difference.frames -= shorter.frames
    difference.callCount -= shorter.callCount
    return difference
  }

  /// A publisher warms up for an eighth of its time, with frames that are not counted.
  var callsPerFrame: Double? {
    frames > 0 ? max(0, callCount) / (Double(frames) * 1.125) : nil
  }

  /// The least value, 99 percentiles and the greatest value of several rounds; nil without values.
  static func quantiles(_ rounds: [RingFinding]) -> [UInt64]? {
    let values = rounds.flatMap(\.values).sorted { $0.ns < $1.ns }
    let count = values.map(\.count).reduce(0, +)
    if count == 0 { return nil }
    var quantiles: [UInt64] = []
    var seen = 0
    for value in values {
      seen += value.count
      while quantiles.count <= 100, seen * 100 >= quantiles.count * count {
        quantiles.append(value.ns)
      }
    }
    return quantiles
  }

  var p50: Double? { percentile(0.5) }
  var p99: Double? { percentile(0.99) }
  var p999: Double? { samples < Self.samplesForP999 ? nil : percentile(0.999) }

  /// The smallest value that at least this share of all values does not exceed.
  private func percentile(_ part: Double) -> Double? {
    let target = part * Double(values.map(\.count).reduce(0, +))
    var seen = 0
    for value in values {
      seen += value.count
      if Double(seen) >= target { return Double(value.ns) }
    }
    return nil
  }
}
