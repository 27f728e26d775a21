import CommandLineSupport
import Platform

/// The medians of rows that differ in one number, as one curve for each subject.
struct BenchScalePlot {
  let name: String
  let rows: [BenchRow]

  /// The scales among the rows, in their order.
  static func plots(of rows: [BenchRow]) -> [BenchScalePlot] {
    var names: [String] = []
    for case let name? in rows.map(\.scaleName) where !names.contains(name) { names.append(name) }
    return names.map { name in
      BenchScalePlot(name: name, rows: rows.filter { $0.scaleName == name })
    }
  }

  /// Such as `64`, `65.5 k` and `33.2 M`.
  private static func label(_ value: Double) -> String {
    if value >= 1e6 { return (value / 1e6).text(places: 1) + " M" }
    return value < 1e4 ? value.text(places: 0) : (value / 1e3).text(places: 1) + " k"
  }

  var svg: String {
    let records = rows.flatMap(\.records)
    let inside = Plot.left * 0.75...Plot.width - Plot.right * 2
    guard let across = Plot.Axis(records.compactMap(\.scale?.value), inside),
      let up = Plot.Axis(records.map(\.median), 0...200)
    else { return "" }
    var parts = up.ticks.flatMap { tick -> [String] in
      let y = 206 - up.position(tick)
      return [
        Plot.line(inside.lowerBound, y, inside.upperBound, y, "class=\"grid\""),
        Plot.text(
          inside.lowerBound - 6, y + 4, figureText(tick, rows.first?.unit ?? ""), anchor: "end"),
      ]
    }
    for value in Set(records.compactMap(\.scale?.value)).sorted() {
      let x = across.position(value)
      parts.append(Plot.line(x, 6, x, 206, "class=\"grid\""))
      parts.append(Plot.text(x, 220, Self.label(value), anchor: "middle"))
    }
    var subjects: [String] = []
    for record in records where !subjects.contains(record.subject) {
      subjects.append(record.subject)
    }
    for (index, subject) in subjects.enumerated() {
      let points = records.filter { $0.subject == subject }.map {
        (x: across.position($0.scale?.value ?? 0), y: 206 - up.position($0.median))
      }
      parts.append(Plot.curve(points, index))
      parts += points.map { Plot.dot($0.x, $0.y, index) }
    }
    parts += Plot.legend(subjects.enumerated().map { ($0, $1) }, at: 242)
    return Plot.svg(height: 252 + Plot.legendHeight(subjects.count), title: name, parts)
  }
}

extension BenchRow {
  fileprivate var scaleName: String? { records.first?.scale?.name }
}

extension BenchRecord {
  fileprivate var median: Double { Spread(rounds ?? []).median }
}
