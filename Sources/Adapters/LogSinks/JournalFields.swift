import SharedLog

/// A line in journald's format: a list of fields. A value of one line follows its name and `=`; any
/// other value follows its length, so that its content cannot be parsed as a field.
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

  /// The priority as numbered by syslog(3).
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

  /// The field name for a key: A-Z, 0-9 and _, at most 64 bytes. Its prefix is unique, so that a
  /// key cannot replace a field of the journal or of the line itself.
  private static func name(_ key: String) -> String {
    let letters = key.utf8.prefix(49).map { byte -> Character in
      let scalar = Character(UnicodeScalar(byte))
      return scalar.isASCII && (scalar.isLetter || scalar.isNumber)
        ? Character(scalar.uppercased()) : "_"
    }
    return "FRAMEBUS_FIELD_" + String(letters)
  }
}
