import CommandLineSupport

/// The median, minimum and maximum of some measurements, one from each round.
struct Spread: Hashable, Sendable {
  let median: Double
  let minimum: Double
  let maximum: Double

  /// - Parameter values: at least one.
  init(_ values: [Double]) {
    precondition(!values.isEmpty, "a spread of no values")
    let sorted = values.sorted()
    let middle = sorted.count / 2
    median = sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    minimum = sorted[0]
    maximum = sorted[sorted.count - 1]
  }

  /// For example `109.2 (101.0–130.4)`.
  func text(in unit: Double = 1, places: Int = 1) -> String {
    let texts = [median, minimum, maximum].map { ($0 / unit).text(places: places) }
    return "\(texts[0]) (\(texts[1])–\(texts[2]))"
  }
}
