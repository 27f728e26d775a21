/// Formats times as ISO 8601, in UTC with microseconds.
package struct TimeText {
  private var second: UInt64 = .max
  private var prefix = ""

  package init() {}

  package mutating func text(_ wallNs: UInt64) -> String {
    let now = wallNs / 1_000_000_000
    if now != second {
      second = now
      prefix = Self.prefix(now)
    }
    let micros = wallNs / 1000 % 1_000_000
    let digits = "\(1_000_000 + micros)".dropFirst()
    return prefix + digits + "Z"
  }

  /// The date, by days since 1970 in the Gregorian calendar (H. Hinnant, “chrono-compatible
  /// low-level date algorithms”, civil_from_days), and the time.
  private static func prefix(_ seconds: UInt64) -> String {
    let days = seconds / 86400 + 719_468
    let era = days / 146_097
    let day = days % 146_097
    let year = (day - day / 1460 + day / 36524 - day / 146_096) / 365
    let ofYear = day - (365 * year + year / 4 - year / 100)
    let month = (5 * ofYear + 2) / 153
    let ofMonth = ofYear - (153 * month + 2) / 5 + 1
    let civilMonth = month < 10 ? month + 3 : month - 9
    let civilYear = year + era * 400 + (civilMonth <= 2 ? 1 : 0)
    func two(_ number: UInt64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let time = seconds % 86400
    return "\(civilYear)-\(two(civilMonth))-\(two(ofMonth))T\(two(time / 3600))"
      + ":\(two(time / 60 % 60)):\(two(time % 60))."
  }
}
