extension StringProtocol {
  /// Text of unknown origin made safe for one line of a terminal or a log: control characters, and
  /// everything else that could steer the one or forge a line of the other, are escaped.
  package var plain: String {
    // Most is plain as it is.
    if utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7f }) { return String(self) }
    var result = ""
    for scalar in unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse:
        result += "\\u{" + String(scalar.value, radix: 16) + "}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
