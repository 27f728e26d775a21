import CommandLineSupport
import Platform

/// Plots of a row as SVG, which a browser draws without a script or another file.
struct BenchPlot {
  let row: BenchRow

  private static let width = 640.0
  private static let left = 150.0
  private static let right = 20.0
  private static let colours = [
    "#0a6cbd", "#767676", "#c2410c", "#15803d", "#7e22ce", "#b45309", "#0f766e", "#be123c",
  ]

  private static func colour(_ index: Int) -> String { colours[index % colours.count] }

  /// A logarithmic axis from one value to another.
  private struct Axis {
    let least: Double
    let greatest: Double
    let range: ClosedRange<Double>

    init?(_ values: [Double], _ range: ClosedRange<Double>) {
      let positive = values.filter { $0 > 0 }
      guard let low = positive.min(), let high = positive.max() else { return nil }
      least = low / 1.15
      greatest = max(high, low * 1.2) * 1.15
      self.range = range
    }

    func position(_ value: Double) -> Double {
      let share = logarithm(max(value, least) / least) / logarithm(greatest / least)
      return range.lowerBound + share * (range.upperBound - range.lowerBound)
    }

    /// 1, 2 and 5 of each power of ten; of wide ranges the powers alone.
    var ticks: [Double] {
      var ticks: [Double] = []
      var power = 1e-3
      while power <= greatest {
        let steps: [Double] = greatest / least > 50 ? [1] : [1, 2, 5]
        ticks += steps.map { $0 * power }.filter { $0 >= least && $0 <= greatest }
        power *= 10
      }
      return ticks
    }
  }

  private func text(
    _ x: Double, _ y: Double, _ text: String, anchor: String = "start"
  ) -> String {
    "<text x=\"\(x.text(places: 1))\" y=\"\(y.text(places: 1))\" text-anchor=\"\(anchor)\">"
      + "\(text.escapedForHTML)</text>"
  }

  private func line(
    _ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ style: String
  ) -> String {
    let places = [x1, y1, x2, y2].map { $0.text(places: 1) }
    return "<line x1=\"\(places[0])\" y1=\"\(places[1])\" x2=\"\(places[2])\" y2=\"\(places[3])\" "
      + "\(style)/>"
  }

  private func svg(height: Double, title: String, _ parts: [String]) -> String {
    """
    <svg viewBox="0 0 \(Self.width.text(places: 0)) \(height.text(places: 0))" role="img">
    <title>\(title.escapedForHTML)</title>
    \(parts.joined(separator: "\n"))
    </svg>
    """
  }

  private func verticalGrid(_ axis: Axis, to height: Double, _ unit: String) -> [String] {
    axis.ticks.flatMap { tick in
      let x = axis.position(tick)
      return [
        line(x, 4, x, height, "class=\"grid\""),
        text(x, height + 14, figureText(tick, unit), anchor: "middle"),
      ]
    }
  }

  /// Each subject's median as a bar, with a dot for each round.
  var peers: String {
    let inside = Self.left...(Self.width - Self.right)
    guard let axis = Axis(row.records.flatMap { $0.rounds ?? [] }, inside) else { return "" }
    let bottom = Double(row.records.count) * 26 + 6
    var parts = verticalGrid(axis, to: bottom, row.unit)
    for (index, record) in row.records.enumerated() {
      let rounds = record.rounds ?? []
      let y = Double(index) * 26 + 8
      let end = axis.position(Spread(rounds).median)
      parts.append(text(Self.left - 8, y + 13, record.subject, anchor: "end"))
      parts.append(
        "<rect x=\"\(Self.left)\" y=\"\(y)\" width=\"\((end - Self.left).text(places: 1))\" "
          + "height=\"16\" fill=\"\(Self.colour(index))\" fill-opacity=\"0.35\"/>")
      for round in rounds { parts.append(dot(axis.position(round), y + 8, index)) }
    }
    return svg(height: bottom + 20, title: "\(row.scenario): medians and rounds", parts)
  }

  private func dot(_ x: Double, _ y: Double, _ index: Int) -> String {
    "<circle cx=\"\(x.text(places: 1))\" cy=\"\(y.text(places: 1))\" r=\"3\" "
      + "fill=\"\(Self.colour(index))\"/>"
  }

  private func curve(_ points: [(x: Double, y: Double)], _ index: Int) -> String {
    let places = points.map { "\($0.x.text(places: 1)),\($0.y.text(places: 1))" }
    return "<polyline points=\"\(places.joined(separator: " "))\" fill=\"none\" "
      + "stroke=\"\(Self.colour(index))\" stroke-width=\"1.5\"/>"
  }

  private func legend(_ records: [(index: Int, record: BenchRecord)], at y: Double) -> [String] {
    records.enumerated().flatMap { place, item in
      let x = 8 + Double(place % 4) * 158
      let y = y + Double(place / 4) * 16
      return [dot(x + 3, y - 4, item.index), text(x + 12, y, item.record.subject)]
    }
  }

  /// Each subject's figure over the rounds, which shows drift and outliers.
  var rounds: String {
    let shown = Array(row.records.enumerated()).map { (index: $0.offset, record: $0.element) }
    let count = shown.map { $0.record.rounds?.count ?? 0 }.max() ?? 0
    // Upwards: greater values are higher.
    guard count > 1, let axis = Axis(shown.flatMap { $0.record.rounds ?? [] }, 0...150) else {
      return ""
    }
    var parts = axis.ticks.flatMap { tick -> [String] in
      let y = 156 - axis.position(tick)
      return [
        line(Self.left / 2, y, Self.width - Self.right, y, "class=\"grid\""),
        text(Self.left / 2 - 6, y + 4, figureText(tick, row.unit), anchor: "end"),
      ]
    }
    let step = (Self.width - Self.right - Self.left / 2 - 20) / Double(count - 1)
    for (index, record) in shown {
      let points = (record.rounds ?? []).enumerated().map { number, value in
        (x: Self.left / 2 + 10 + Double(number) * step, y: 156 - axis.position(value))
      }
      parts.append(curve(points, index))
      parts += points.map { dot($0.x, $0.y, index) }
    }
    parts += legend(shown, at: 178)
    return svg(height: 200 + legendHeight(shown.count), title: "\(row.scenario): rounds", parts)
  }

  private func legendHeight(_ count: Int) -> Double { Double((count - 1) / 4) * 16 }

  /// The share of samples up to each value, of subjects whose samples were kept.
  var distribution: String {
    let shown = Array(row.records.enumerated()).map { (index: $0.offset, record: $0.element) }
      .filter { ($0.record.quantiles_ns?.count ?? 0) > 1 }
    let values = shown.flatMap { $0.record.quantiles_ns?.map { Double($0) } ?? [] }
    let inside = Self.left / 2...(Self.width - Self.right)
    guard let axis = Axis(values, inside) else { return "" }
    var parts = verticalGrid(axis, to: 160, "ns")
    for percent in [0, 50, 90, 100] {
      let y = 158 - Double(percent) * 1.5
      parts.append(line(inside.lowerBound, y, inside.upperBound, y, "class=\"grid\""))
      parts.append(text(inside.lowerBound - 6, y + 4, "\(percent) %", anchor: "end"))
    }
    for (index, record) in shown {
      let quantiles = record.quantiles_ns ?? []
      let step = 150 / Double(quantiles.count - 1)
      parts.append(
        curve(
          quantiles.enumerated().map {
            (x: axis.position(Double($1)), y: 158 - Double($0) * step)
          }, index))
    }
    parts += legend(shown, at: 194)
    return svg(
      height: 204 + legendHeight(shown.count), title: "\(row.scenario): distribution", parts)
  }
}

extension String {
  var escapedForHTML: String {
    plain.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
      .replacing("\"", with: "&quot;")
  }
}
