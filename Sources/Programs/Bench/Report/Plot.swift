import CommandLineSupport
import Platform

/// Pieces of a plot as SVG.
enum Plot {
  static let width = 640.0
  static let left = 150.0
  static let right = 20.0
  private static let colours = [
    "#0a6cbd", "#767676", "#c2410c", "#15803d", "#7e22ce", "#b45309", "#0f766e", "#be123c",
  ]

  static func colour(_ index: Int) -> String { colours[index % colours.count] }

  /// A logarithmic axis from one value to another.
  struct Axis {
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

  static func text(
    _ x: Double, _ y: Double, _ text: String, anchor: String = "start"
  ) -> String {
    "<text x=\"\(x.text(places: 1))\" y=\"\(y.text(places: 1))\" text-anchor=\"\(anchor)\">"
      + "\(text.escapedForHTML)</text>"
  }

  static func line(
    _ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ style: String
  ) -> String {
    let places = [x1, y1, x2, y2].map { $0.text(places: 1) }
    return "<line x1=\"\(places[0])\" y1=\"\(places[1])\" x2=\"\(places[2])\" y2=\"\(places[3])\" "
      + "\(style)/>"
  }

  static func svg(height: Double, title: String, _ parts: [String]) -> String {
    """
    <svg viewBox="0 0 \(Self.width.text(places: 0)) \(height.text(places: 0))" role="img">
    <title>\(title.escapedForHTML)</title>
    \(parts.joined(separator: "\n"))
    </svg>
    """
  }

  static func verticalGrid(_ axis: Axis, to height: Double, _ unit: String) -> [String] {
    axis.ticks.flatMap { tick in
      let x = axis.position(tick)
      return [
        line(x, 4, x, height, "class=\"grid\""),
        text(x, height + 14, figureText(tick, unit), anchor: "middle"),
      ]
    }
  }

  static func dot(_ x: Double, _ y: Double, _ index: Int) -> String {
    "<circle cx=\"\(x.text(places: 1))\" cy=\"\(y.text(places: 1))\" r=\"3\" "
      + "fill=\"\(Self.colour(index))\"/>"
  }

  static func curve(_ points: [(x: Double, y: Double)], _ index: Int) -> String {
    let places = points.map { "\($0.x.text(places: 1)),\($0.y.text(places: 1))" }
    return "<polyline points=\"\(places.joined(separator: " "))\" fill=\"none\" "
      + "stroke=\"\(Self.colour(index))\" stroke-width=\"1.5\"/>"
  }

  /// - Parameter subjects: each with the number of its colour.
  static func legend(_ subjects: [(index: Int, name: String)], at y: Double) -> [String] {
    subjects.enumerated().flatMap { place, item in
      let x = 8 + Double(place % 4) * 158
      let y = y + Double(place / 4) * 16
      return [dot(x + 3, y - 4, item.index), text(x + 12, y, item.name)]
    }
  }

  static func legendHeight(_ count: Int) -> Double { Double((count - 1) / 4) * 16 }
}

extension String {
  var escapedForHTML: String {
    plain.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
      .replacing("\"", with: "&quot;")
  }
}
