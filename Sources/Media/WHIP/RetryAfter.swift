import Platform

/// The header Retry-After (RFC 9110, section 10.2.3): seconds, or a date.
enum RetryAfter {
  /// A server cannot make anybody wait longer.
  private static let longestSeconds: Int64 = 24 * 3600

  /// - Returns: nil if the response has no such header, or a malformed one.
  static func wait(in response: HTTPResponse) -> Duration? {
    guard let text = response.value(of: "Retry-After") else { return nil }
    return wait(
      text,
      nowSeconds: response.value(of: "Date").flatMap(secondsSince1970)
        ?? Int64(wallNowNs() / 1_000_000_000))
  }

  /// - Parameter nowSeconds: the present by the server's clock, in seconds since 1970.
  static func wait(_ text: String, nowSeconds: Int64) -> Duration? {
    let digits = text.reversed().drop(while: \.isWhitespace).reversed()
    if !digits.isEmpty, digits.allSatisfy({ $0.isASCII && $0.isNumber }) {
      // A number that is too long is a long time.
      return .seconds(min(Int64(String(digits)) ?? longestSeconds, longestSeconds))
    }
    guard let then = secondsSince1970(text) else { return nil }
    return .seconds(min(max(then - nowSeconds, 0), longestSeconds))
  }

  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// Parses `Sun, 06 Nov 1994 08:49:37 GMT`, and the two obsolete forms of RFC 9110, section 5.6.7:
  /// `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37 1994`.
  static func secondsSince1970(_ text: String) -> Int64? {
    var words = text.split { $0 == " " || $0 == "-" || $0 == "," }
    guard (5...6).contains(words.count) else { return nil }
    // The last form has the year at the end, and the month before the day.
    if words.count == 5 { words = [words[0], words[2], words[1], words[4], words[3], "GMT"] }
    let time = words[4].split(separator: ":").compactMap { number($0, 2...2) }
    guard let day = number(words[1], 1...2), (1...31).contains(day),
      let month = months.firstIndex(of: String(words[2])), var year = number(words[3], 2...4),
      words[4].utf8.count == 8, time.count == 3, time[0] < 24, time[1] < 60, time[2] < 61,
      words[5] == "GMT"
    else { return nil }
    if year < 100 { year += year < 70 ? 2000 : 1900 }
    guard year >= 1970 else { return nil }
    return daysSince1970(year, Int64(month + 1), day) * 86400 + time[0] * 3600 + time[1] * 60
      + time[2]
  }

  private static func number(_ text: Substring, _ counts: ClosedRange<Int>) -> Int64? {
    guard counts.contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
    else { return nil }
    return Int64(text)
  }

  /// In the Gregorian calendar (H. Hinnant, “chrono-compatible low-level date algorithms”,
  /// days_from_civil).
  private static func daysSince1970(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let year = month <= 2 ? year - 1 : year
    let era = year / 400
    let ofEra = year - era * 400
    let ofYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - 719_468
  }
}
