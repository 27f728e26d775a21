extension Double {
  /// The value with a fixed number of decimal places, for columns. A value that is not finite, or
  /// has too many digits, has Swift's default form.
  package func text(places: Int) -> String {
    let scale = (0..<places).reduce(1.0) { product, _ in product * 10 }
    guard let units = Int(exactly: (magnitude * scale).rounded()) else { return "\(self)" }
    let digits = "\(units)"
    let padded = String(repeating: "0", count: max(0, places + 1 - digits.count)) + digits
    let sign = self < 0 ? "-" : ""
    return places == 0
      ? sign + padded : "\(sign)\(padded.dropLast(places)).\(padded.suffix(places))"
  }
}

/// Rows in columns: the first left-aligned, the others right-aligned.
package struct TextTable {
  private var rows: [[String]]

  package init(_ heading: [String]) { rows = [heading] }

  package mutating func add(_ row: [String]) { rows.append(row) }

  package var lines: [String] {
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
