import CommandLineSupport

/// Two runs of the same rows: which of them changed beyond noise.
///
/// A machine's speed varies between runs, by a factor of three on some. So where a row has a
/// baseline, the ratios to it within each round are compared, else the figures. A row has changed
/// if the rounds of both runs do not overlap and the medians differ by more than a twentieth: with
/// five rounds each, chance separates two equal distributions once in 126 times.
public struct BenchComparison {
  private let old: [BenchRow]
  private let new: [BenchRow]

  private static let leastChange = 0.05

  public init(of old: [BenchRecord], to new: [BenchRecord]) {
    self.old = BenchRow.rows(of: old)
    self.new = BenchRow.rows(of: new)
  }

  /// What became of a row.
  enum Verdict: String {
    case better, worse, same
  }

  /// A subject in a row of both runs.
  struct Change {
    let row: String
    let subject: String
    let isRatio: Bool
    let unit: String
    let old: Spread
    let new: Spread

    var verdict: Verdict {
      let ratio = new.median / old.median
      if new.minimum <= old.maximum && old.minimum <= new.maximum { return .same }
      if abs(ratio - 1) <= BenchComparison.leastChange { return .same }
      return (ratio > 1) == unit.hasSuffix("/s") ? .better : .worse
    }

    /// `old → new`, with the range of each.
    var text: String {
      func text(_ spread: Spread) -> String {
        if isRatio { return "\(spread.text(places: 2)) × limit" }
        let texts = [spread.median, spread.minimum, spread.maximum].map { figureText($0, unit) }
        return "\(texts[0]) (\(texts[1])–\(texts[2]))"
      }
      return "\(text(old)) → \(text(new))"
    }
  }

  var changes: [Change] {
    new.flatMap { row -> [Change] in
      guard let former = old.first(where: { $0.suite == row.suite && $0.scenario == row.scenario })
      else { return [] }
      return row.records.compactMap { change(of: $0, in: row, from: former) }
    }
  }

  private func change(
    of record: BenchRecord, in row: BenchRow, from former: BenchRow
  ) -> Change? {
    guard let before = former.records.first(where: { $0.subject == record.subject }),
      before.unit == record.unit, let oldRounds = before.rounds, let newRounds = record.rounds
    else { return nil }
    let ratios = row.ratios(of: record).flatMap { new in
      former.ratios(of: before).map { (old: $0, new: new) }
    }
    let old = Spread(ratios?.old ?? oldRounds)
    guard old.median > 0 else { return nil }
    return Change(
      row: "\(row.suite): \(row.scenario)", subject: record.subject, isRatio: ratios != nil,
      unit: record.unit ?? "", old: old, new: Spread(ratios?.new ?? newRounds))
  }

  /// The rows that changed, and how many did not.
  public var lines: [String] {
    let changes = changes
    // The baseline varies with the machine alone.
    let judged = changes.filter { $0.subject != "limit" }
    var table = TextTable(["row", "subject", "change", "before → now"])
    for change in judged where change.verdict != .same {
      let percent = (change.new.median / change.old.median - 1) * 100
      let sign = percent > 0 ? "+" : "−"
      table.add([
        change.row, change.subject,
        "\(change.verdict.rawValue), \(sign)\(abs(percent).text(places: 0)) %", change.text,
      ])
    }
    let sameCount = judged.count { $0.verdict == .same }
    let missing = new.count { row in
      !old.contains { $0.suite == row.suite && $0.scenario == row.scenario }
    }
    var lines = ["compared with the earlier run: \(sameCount) rows the same within noise"]
    if missing > 0 { lines[0] += ", \(missing) not in it" }
    if judged.count > sameCount { lines += [""] + table.lines }
    return lines
  }
}
