/// Text that somebody else wrote, for one line of a terminal: what could end the line, steer the
/// terminal or hide is shown as `\u{…}`.
package func visible(_ text: String) -> String {
  // Most is plain.
  if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7f }) { return text }
  var result = ""
  for scalar in text.unicodeScalars {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse:
      result += "\\u{" + String(scalar.value, radix: 16) + "}"
    default: result.unicodeScalars.append(scalar)
    }
  }
  return result
}
