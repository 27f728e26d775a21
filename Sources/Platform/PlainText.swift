// The one rule for text that others wrote and that is shown to a person: what could steer a
// terminal, or forge another line, is escaped (C0, DEL, C1, bidirectional and other invisible
// marks, the separators of lines and paragraphs). Malformed UTF-8 has become U+FFFD before.

extension Unicode.Scalar {
  /// Whether a terminal or a log shows this as itself, within the line.
  fileprivate var isPlain: Bool {
    // Most is ASCII, where no table of Unicode need be asked.
    if value < 0x7f { return value >= 0x20 }
    return switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: false
    default: true
    }
  }
}

extension StringProtocol {
  /// Whether the text can stand in one line of a terminal or a log as it is.
  package var isPlain: Bool { unicodeScalars.allSatisfy(\.isPlain) }

  /// The text made safe for one line of a terminal or a log: whatever is not plain is escaped.
  package var plain: String { escaped(but: []) }

  /// The text made safe for a terminal as several lines: line feeds and tabs stay.
  package var plainLines: String { escaped(but: ["\n", "\t"]) }

  private func escaped(but kept: [Unicode.Scalar]) -> String {
    if utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7f }) { return String(self) }
    var result = ""
    for scalar in unicodeScalars {
      if scalar.isPlain || kept.contains(scalar) {
        result.unicodeScalars.append(scalar)
      } else {
        result += "\\u{" + String(scalar.value, radix: 16) + "}"
      }
    }
    return result
  }
}

/// JSON whose strings keep their value and steer no terminal: what is not plain is written as
/// `\uXXXX` (RFC 8259, section 7). Outside of strings JSON has nothing but ASCII.
/// - Parameter json: UTF-8, in which control characters within strings are escaped already.
package func plainJSON(_ json: [UInt8]) -> [UInt8] {
  if json.allSatisfy({ $0 < 0x7f }) { return json }
  var result = ""
  for scalar in String(decoding: json, as: UTF8.self).unicodeScalars {
    if scalar.isPlain || scalar.value < 0x20 {
      result.unicodeScalars.append(scalar)
      continue
    }
    for unit in Character(scalar).utf16 {
      let digits = String(unit, radix: 16)
      result += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)"
    }
  }
  return Array(result.utf8)
}
