/// Text of unknown origin made safe for one line of a terminal or a log: control characters and
/// everything that could forge a line are escaped, and length is limited.
func printable(_ text: String, limit: Int = 200) -> String {
  var result = "\""
  for scalar in text.unicodeScalars.prefix(limit) {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse:
      result += "\\u{" + String(scalar.value, radix: 16) + "}"
    default: result.unicodeScalars.append(scalar)
    }
  }
  return result + (text.unicodeScalars.count > limit ? "…\"" : "\"")
}
