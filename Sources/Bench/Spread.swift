/// The middle and the ends of some measured values, one of each round.
struct Spread: Hashable, Sendable {
  let median: Double
  let least: Double
  let most: Double

  /// - Parameter values: at least one.
  init(_ values: [Double]) {
    precondition(!values.isEmpty, "a spread of no values")
    let sorted = values.sorted()
    let middle = sorted.count / 2
    median = sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    least = sorted[0]
    most = sorted[sorted.count - 1]
  }

  /// Such as `109.2 (101.0–130.4)`.
  func text(in unit: Double = 1, places: Int = 1) -> String {
    let texts = [median, least, most].map { ($0 / unit).text(places: places) }
    return "\(texts[0]) (\(texts[1])–\(texts[2]))"
  }
}

extension Double {
  /// With exactly so many decimal places, for columns.
  func text(places: Int) -> String {
    let scale = (0..<places).reduce(1.0) { product, _ in product * 10 }
    let digits = "\(Int((magnitude * scale).rounded()))"
    let padded = String(repeating: "0", count: max(0, places + 1 - digits.count)) + digits
    let sign = self < 0 ? "-" : ""
    return places == 0
      ? sign + padded : "\(sign)\(padded.dropLast(places)).\(padded.suffix(places))"
  }
}

/// Rows in columns: the first to the left, the others to the right.
struct TextTable {
  private var rows: [[String]]

  init(_ heading: [String]) { rows = [heading] }

  mutating func add(_ row: [String]) { rows.append(row) }

  var lines: [String] {
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      var line = ""
      for (column, cell) in row.enumerated() {
        let gap = String(repeating: " ", count: widths[column] - cell.count)
        line += column == 0 ? cell + gap : "  " + gap + cell
      }
      return line
    }
  }
}
