import CommandLineSupport
import Platform

/// The results of a run as one HTML file: tables, and plots of distribution, rounds and peers. It
/// refers to no other file and has no script, so it can be sent and kept.
public struct BenchPage {
  private let rows: [BenchRow]
  private let command: String
  private let comparison: BenchComparison?

  /// - Parameters:
  ///   - command: what was run, as the page says.
  ///   - comparison: with an earlier run.
  public init(_ records: [BenchRecord], command: String, comparison: BenchComparison?) {
    rows = BenchRow.rows(of: records)
    self.command = command
    self.comparison = comparison
  }

  private static let style = """
    body { font: 15px/1.45 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto;
      padding: 0 1rem; color-scheme: light dark; }
    table { border-collapse: collapse; margin: .5rem 0 1rem; }
    th, td { text-align: right; padding: .15rem .8rem .15rem 0;
      border-bottom: 1px solid #8884; white-space: nowrap; }
    th:first-child, td:first-child { text-align: left; }
    td.better { color: #15803d; } td.worse { color: #c2410c; }
    svg { width: 100%; max-width: 46rem; display: block; margin: .5rem 0; }
    svg text { font: 11px system-ui, sans-serif; fill: currentColor; }
    svg .grid { stroke: #8885; stroke-width: 1; }
    h2 { margin-top: 2.5rem; }
    """

  public var text: String {
    let title = "framebus bench"
    let time = utcText(seconds: Int64(wallNowNs() / 1_000_000_000))
    var parts = [
      "<!doctype html>", "<html lang=\"en\">", "<meta charset=\"utf-8\">",
      "<meta name=\"viewport\" content=\"width=device-width\">", "<title>\(title)</title>",
      "<style>\n\(Self.style)\n</style>", "<h1>\(title)</h1>",
      "<p><code>\(command.escapedForHTML)</code>, \(time.escapedForHTML), "
        + "\(processorCount()) processors. Medians of rounds, with minimum and maximum; "
        + "a ratio is computed within each round.</p>",
    ]
    if let comparison { parts += Self.table(of: comparison) }
    if rows.isEmpty { parts.append("<p>No row has figures of rounds.</p>") }
    for plot in BenchScalePlot.plots(of: rows) {
      parts += ["<h2>\(plot.name.escapedForHTML)</h2>", plot.svg]
    }
    for row in rows {
      parts.append("<h2>\(row.suite.escapedForHTML): \(row.scenario.escapedForHTML)</h2>")
      parts += Self.table(of: row)
      let plot = BenchPlot(row: row)
      parts += [plot.peers, plot.distribution, plot.rounds].filter { !$0.isEmpty }
    }
    return parts.joined(separator: "\n") + "\n</html>\n"
  }

  private static func tableRow(_ cells: [String], as tag: String = "td") -> String {
    "<tr>" + cells.map { "<\(tag)>\($0.escapedForHTML)</\(tag)>" }.joined() + "</tr>"
  }

  private static func table(of row: BenchRow) -> [String] {
    let headings = ["subject", "median", "minimum", "maximum", "p99", "CPU", "× limit"]
    let rows = row.records.map { record -> String in
      let spread = Spread(record.rounds ?? [])
      func time(_ ns: UInt64?) -> String { ns.map { figureText(Double($0), "ns") } ?? "" }
      return tableRow([
        record.subject, figureText(spread.median, row.unit),
        figureText(spread.minimum, row.unit), figureText(spread.maximum, row.unit),
        time(record.p99_ns), time(record.cpu_ns_per_frame),
        row.ratios(of: record).map { Spread($0).text(places: 2) } ?? "",
      ])
    }
    return ["<table>", tableRow(headings, as: "th")] + rows + ["</table>"]
  }

  private static func table(of comparison: BenchComparison) -> [String] {
    let changes = comparison.changes.filter { $0.subject != "limit" }
    let rows = changes.map { change in
      "<tr><td>\("\(change.row), \(change.subject)".escapedForHTML)</td>"
        + "<td class=\"\(change.verdict.rawValue)\">\(change.verdict.rawValue)</td>"
        + "<td>\(change.text.escapedForHTML)</td></tr>"
    }
    return [
      "<h2>Compared with the earlier run</h2>", "<table>",
      tableRow(["row", "change", "before → now"], as: "th"),
    ] + rows + ["</table>"]
  }
}
