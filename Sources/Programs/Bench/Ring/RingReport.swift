import CommandLineSupport

/// The results of a ring suite, as records and as text.
struct RingReport {
  let suite: String
  let heading: String
  let rows: [RingRow]
  /// The subjects that the others are compared with.
  var baselines = ["limit", "iceoryx"]
  /// What processes exchange, for headings.
  var noun = "frame"
  /// Whether processor time is compared too.
  var comparesProcessorTime = false

  var report: BenchReport {
    BenchReport(
      records: rows.flatMap(records), lines: [heading, ""] + rows.flatMap(lines) + versions)
  }

  /// The version of each subject.
  private var versions: [String] {
    var table = TextTable(["subject", "version"])
    var known: Set<String> = []
    for column in rows.flatMap(\.columns) where known.insert(column.subject.name).inserted {
      table.add([column.subject.name, column.rounds.first?.version ?? ""])
    }
    return table.lines
  }

  // MARK: Records

  private func records(of row: RingRow) -> [BenchRecord] {
    row.columns.map { column in
      let measure = row.scenario.measure
      var record = BenchRecord(
        suite: suite, scenario: row.scenario.name, subject: column.subject.name,
        samples: column.rounds.map(\.samples).reduce(0, +))
      switch measure {
      case .latency, .cost, .last:
        record.p50_ns = whole(column, \.p50)
        record.p99_ns = whole(column, \.p99)
        record.p999_ns = whole(column, \.p999)
        record.per_second = thousandths(column, \.framesPerSecond)
      case .rate, .posts: record.per_second = thousandths(column, \.framesPerSecond)
      case .calls: record.syscalls_per_frame = thousandths(column, \.callsPerFrame)
      }
      let figures = column.rounds.compactMap(measure.figure)
      if figures.count == column.rounds.count, !figures.isEmpty {
        record.set(rounds: figures, unit: unit(of: measure))
      }
      record.quantiles_ns = RingFinding.quantiles(column.rounds)
      record.scale = row.scenario.scale
      // A process that spins uses all the time it gets.
      if measure != .calls, !row.scenario.traits.contains(.polls) {
        record.cpu_ns_per_frame = whole(column, \.processorNsPerFrame)
      }
      return record
    }
  }

  private func spread(
    _ column: RingRow.Column, _ figure: (RingFinding) -> Double?
  ) -> Spread? {
    let values = column.rounds.compactMap(figure)
    return values.count == column.rounds.count && !values.isEmpty ? Spread(values) : nil
  }

  private func whole(_ column: RingRow.Column, _ figure: (RingFinding) -> Double?) -> UInt64? {
    spread(column, figure).map { UInt64($0.median.rounded()) }
  }

  private func thousandths(
    _ column: RingRow.Column, _ figure: (RingFinding) -> Double?
  ) -> Double? {
    spread(column, figure).map { ($0.median * 1000).rounded() / 1000 }
  }

  // MARK: Lines

  private func lines(of row: RingRow) -> [String] {
    let measure = row.scenario.measure
    var headings = ["subject", heading(of: measure)] + baselines.map { "× \($0)" }
    let hasTail = measure != .rate && measure != .posts && measure != .calls
    if hasTail { headings += ["p99", "p99.9"] }
    let hasProcessorTime = measure != .calls && !row.scenario.traits.contains(.polls)
    if hasProcessorTime { headings.append("CPU ns a \(noun)") }
    let comparesTime = hasProcessorTime && comparesProcessorTime
    if comparesTime { headings += baselines.map { "CPU × \($0)" } }
    var table = TextTable(headings)
    for column in row.columns {
      var cells = [
        column.subject.name, text(column, measure.figure, places: measure.places),
      ]
      cells += baselines.map { ratio(column, to: $0, in: row, measure.figure) }
      if hasTail { cells += [text(column, \.p99), text(column, \.p999)] }
      if hasProcessorTime { cells.append(text(column, \.processorNsPerFrame)) }
      if comparesTime {
        cells += baselines.map { ratio(column, to: $0, in: row, \.processorNsPerFrame) }
      }
      table.add(cells)
    }
    return [row.scenario.name, ""] + table.lines + [""]
  }

  private func heading(of measure: RingScenario.Measure) -> String {
    switch measure {
    case .latency, .cost, .last: "p50 ns"
    case .rate, .posts: "\(noun)s/s"
    case .calls: "calls a \(noun)"
    }
  }

  private func unit(of measure: RingScenario.Measure) -> String {
    switch measure {
    case .latency, .cost, .last: "ns"
    case .rate, .posts: "\(noun)s/s"
    case .calls: "calls"
    }
  }

  private func text(
    _ column: RingRow.Column, _ figure: (RingFinding) -> Double?, places: Int = 0
  ) -> String {
    spread(column, figure)?.text(places: places) ?? ""
  }

  /// The ratio of a figure within each round, so that load on the machine affects both.
  private func ratio(
    _ column: RingRow.Column, to name: String, in row: RingRow,
    _ figure: (RingFinding) -> Double?
  ) -> String {
    guard let other = row.columns.first(where: { $0.subject.name == name }) else { return "" }
    let ratios = zip(column.rounds, other.rounds).compactMap { own, other -> Double? in
      guard let own = figure(own), let other = figure(other), other > 0 else { return nil }
      return own / other
    }
    return ratios.isEmpty ? "" : Spread(ratios).text(places: 2)
  }
}

extension RingScenario.Measure {
  /// The figure of a row, also used for its ratios.
  var figure: @Sendable (RingFinding) -> Double? {
    switch self {
    case .latency, .cost, .last: { $0.p50 }
    case .rate, .posts: { $0.framesPerSecond }
    case .calls: { $0.callsPerFrame }
    }
  }

  var places: Int { self == .calls ? 2 : 0 }
}
