import SharedLog

/// A line as journald takes it: fields one after the other. A value of one line stands behind its
/// name and `=`; any other behind its length, so that nothing in it can be taken for a field.
struct JournalFields {
  private(set) var bytes: [UInt8] = []

  init(_ line: LogLine, identifier: String) {
    add("MESSAGE", line.message)
    add("PRIORITY", "\(Self.priority(line.level))")
    add("SYSLOG_IDENTIFIER", identifier)
    if !line.source.isEmpty {
      add("CODE_FILE", line.source)
      add("CODE_LINE", "\(line.sourceLine)")
    }
    if !line.label.isEmpty { add("FRAMEBUS_LABEL", line.label) }
    for field in line.metadata { add(Self.name(field.key), field.sharedValue) }
  }

  private mutating func add(_ name: String, _ value: String) {
    bytes += name.utf8
    if value.utf8.allSatisfy({ $0 >= 0x20 || $0 == UInt8(ascii: "\t") }) {
      bytes.append(UInt8(ascii: "="))
    } else {
      bytes.append(UInt8(ascii: "\n"))
      let count = UInt64(value.utf8.count)
      for index in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: count >> (8 * UInt64(index)))) }
    }
    bytes += value.utf8
    bytes.append(UInt8(ascii: "\n"))
  }

  /// As syslog(3) counts.
  private static func priority(_ level: LogLevel) -> Int {
    switch level {
    case .critical: 2
    case .error: 3
    case .warning: 4
    case .notice: 5
    case .info: 6
    case .debug, .trace: 7
    }
  }

  /// The name for a key: of A-Z, 0-9 and _, at most 64 bytes; with a beginning that no other field
  /// has, so that no key passes for one of the journal's or of the line itself.
  private static func name(_ key: String) -> String {
    let letters = key.utf8.prefix(49).map { byte -> Character in
      let scalar = Character(UnicodeScalar(byte))
      return scalar.isASCII && (scalar.isLetter || scalar.isNumber)
        ? Character(scalar.uppercased()) : "_"
    }
    return "FRAMEBUS_FIELD_" + String(letters)
  }
}
