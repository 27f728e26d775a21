import CommandLineSupport

/// The subjects of one scenario, as a page and a comparison show them.
struct BenchRow {
  let suite: String
  let scenario: String
  let records: [BenchRecord]

  /// The rows of a run whose subjects have a figure for each round, in their order.
  static func rows(of records: [BenchRecord]) -> [BenchRow] {
    var keys: [[String]] = []
    var groups: [[String]: [BenchRecord]] = [:]
    for record in records where record.rounds?.isEmpty == false {
      let key = [record.suite, record.scenario]
      if groups[key] == nil { keys.append(key) }
      groups[key, default: []].append(record)
    }
    return keys.map { BenchRow(suite: $0[0], scenario: $0[1], records: groups[$0] ?? []) }
  }

  /// The first record's unit, which all subjects of a row share.
  var unit: String { records.first?.unit ?? "" }

  /// The figures of a subject, divided by the baseline's of the same round; nil without one.
  func ratios(of record: BenchRecord) -> [Double]? {
    guard record.subject != "limit", let rounds = record.rounds,
      let limits = records.first(where: { $0.subject == "limit" })?.rounds,
      limits.count == rounds.count, limits.allSatisfy({ $0 > 0 })
    else { return nil }
    return zip(rounds, limits).map { $0 / $1 }
  }
}

/// A figure with its unit, such as `1.25 µs` or `3.4 M frames/s`.
func figureText(_ value: Double, _ unit: String) -> String {
  func scaled(_ steps: [(Double, String)]) -> String {
    let (factor, name) = steps.last { value >= $0.0 } ?? steps[0]
    let scaled = value / factor
    return scaled.text(places: scaled < 10 ? 2 : scaled < 100 ? 1 : 0) + name
  }
  if unit == "ns" { return scaled([(1, " ns"), (1e3, " µs"), (1e6, " ms"), (1e9, " s")]) }
  if unit.hasSuffix("/s") {
    return scaled([(1, " \(unit)"), (1e3, " k \(unit)"), (1e6, " M \(unit)")])
  }
  return value.text(places: 2) + (unit.isEmpty ? "" : " \(unit)")
}
