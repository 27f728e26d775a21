// The single rule for showing untrusted text to a user: characters that could control a terminal or
// forge another line are escaped (C0, DEL, C1, bidirectional and other invisible marks, line and
// paragraph separators). Malformed UTF-8 has already become U+FFFD.

extension Unicode.Scalar {
  /// Whether a terminal or a log can show this unescaped within a line.
  fileprivate var isPlain: Bool {
    // Most text is ASCII, which needs no Unicode tables.
    if value < 0x7f { return value >= 0x20 }
    return switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: false
    default: true
    }
  }
}

extension StringProtocol {
  /// Whether the text can be shown unescaped in one line of a terminal or a log.
  package var isPlain: Bool { unicodeScalars.allSatisfy(\.isPlain) }

  /// The text, escaped for one line of a terminal or a log.
  package var plain: String { escaped(but: []) }

  /// The text, escaped for several lines of a terminal: line feeds and tabs stay.
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

/// Escapes JSON for a terminal: characters that are not plain become `\uXXXX` (RFC 8259, section
/// 7), which keeps the strings' values. Outside of strings JSON contains only ASCII.
/// - Parameter json: UTF-8 in which control characters within strings are already escaped.
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
