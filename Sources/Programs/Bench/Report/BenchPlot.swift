import CommandLineSupport
import Platform

/// Plots of a row as SVG, which a browser draws without a script or another file.
struct BenchPlot {
  let row: BenchRow

  /// Each subject's median as a bar, with a dot for each round.
  var peers: String {
    let inside = Plot.left...(Plot.width - Plot.right)
    guard let axis = Plot.Axis(row.records.flatMap { $0.rounds ?? [] }, inside) else { return "" }
    let bottom = Double(row.records.count) * 26 + 6
    var parts = Plot.verticalGrid(axis, to: bottom, row.unit)
    for (index, record) in row.records.enumerated() {
      let rounds = record.rounds ?? []
      let y = Double(index) * 26 + 8
      let end = axis.position(Spread(rounds).median)
      parts.append(Plot.text(Plot.left - 8, y + 13, record.subject, anchor: "end"))
      parts.append(
        "<rect x=\"\(Plot.left)\" y=\"\(y)\" width=\"\((end - Plot.left).text(places: 1))\" "
          + "height=\"16\" fill=\"\(Plot.colour(index))\" fill-opacity=\"0.35\"/>")
      for round in rounds { parts.append(Plot.dot(axis.position(round), y + 8, index)) }
    }
    return Plot.svg(height: bottom + 20, title: "\(row.scenario): medians and rounds", parts)
  }

  /// Each subject's figure over the rounds, which shows drift and outliers.
  var rounds: String {
    let shown = Array(row.records.enumerated()).map { (index: $0.offset, record: $0.element) }
    let count = shown.map { $0.record.rounds?.count ?? 0 }.max() ?? 0
    // Upwards: greater values are higher.
    guard count > 1, let axis = Plot.Axis(shown.flatMap { $0.record.rounds ?? [] }, 0...150) else {
      return ""
    }
    var parts = axis.ticks.flatMap { tick -> [String] in
      let y = 156 - axis.position(tick)
      return [
        Plot.line(Plot.left / 2, y, Plot.width - Plot.right, y, "class=\"grid\""),
        Plot.text(Plot.left / 2 - 6, y + 4, figureText(tick, row.unit), anchor: "end"),
      ]
    }
    let step = (Plot.width - Plot.right - Plot.left / 2 - 20) / Double(count - 1)
    for (index, record) in shown {
      let points = (record.rounds ?? []).enumerated().map { number, value in
        (x: Plot.left / 2 + 10 + Double(number) * step, y: 156 - axis.position(value))
      }
      parts.append(Plot.curve(points, index))
      parts += points.map { Plot.dot($0.x, $0.y, index) }
    }
    parts += Plot.legend(shown.map { ($0.index, $0.record.subject) }, at: 178)
    return Plot.svg(
      height: 200 + Plot.legendHeight(shown.count), title: "\(row.scenario): rounds", parts)
  }

  /// The share of samples up to each value, of subjects whose samples were kept.
  var distribution: String {
    let shown = Array(row.records.enumerated()).map { (index: $0.offset, record: $0.element) }
      .filter { ($0.record.quantiles_ns?.count ?? 0) > 1 }
    let values = shown.flatMap { $0.record.quantiles_ns?.map { Double($0) } ?? [] }
    let inside = Plot.left / 2...(Plot.width - Plot.right)
    guard let axis = Plot.Axis(values, inside) else { return "" }
    var parts = Plot.verticalGrid(axis, to: 160, "ns")
    for percent in [0, 50, 90, 100] {
      let y = 158 - Double(percent) * 1.5
      parts.append(Plot.line(inside.lowerBound, y, inside.upperBound, y, "class=\"grid\""))
      parts.append(Plot.text(inside.lowerBound - 6, y + 4, "\(percent) %", anchor: "end"))
    }
    for (index, record) in shown {
      let quantiles = record.quantiles_ns ?? []
      let step = 150 / Double(quantiles.count - 1)
      parts.append(
        Plot.curve(
          quantiles.enumerated().map {
            (x: axis.position(Double($1)), y: 158 - Double($0) * step)
          }, index))
    }
    parts += Plot.legend(shown.map { ($0.index, $0.record.subject) }, at: 194)
    return Plot.svg(
      height: 204 + Plot.legendHeight(shown.count), title: "\(row.scenario): distribution", parts)
  }
}
