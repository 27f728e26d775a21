import CLogLayout
import Platform

extension LogRecord {
  /// A line that was not read from a file of this machine. Of label, source, keys and values, at
  /// most 65,535 bytes are kept.
  package init(
    wallNs: UInt64, monotonicNs: UInt64, run: LogRun, sequence: UInt64, level: LogLevel,
    label: String, message: String, metadata: [LogField], source: String, isCut: Bool
  ) {
    // `source` is a file, or a file, a colon and a number.
    let colon = source.lastIndex(of: ":")
    let line = colon.flatMap { UInt32(source[source.index(after: $0)...]) }
    let file = Self.short(line == nil ? source[...] : source[..<(colon ?? source.endIndex)])
    let (label, message) = (Self.short(label[...]), Array(message.utf8))
    var fields = ByteWriter()
    for field in metadata {
      let (key, value) = (Self.short(field.key[...]), Self.short(field.value[...]))
      fields.integer(field.isPrivate ? UInt16(LG_PRIVATE) : 0)
      fields.integer(UInt16(key.count))
      fields.integer(UInt16(value.count))
      fields.raw(key)
      fields.raw(value)
    }
    // As `lg_record`; nobody checks its mark and checksum.
    var record = ByteWriter()
    record.integer(UInt64(0))
    record.integer(UInt64(0))
    for number in [sequence, wallNs, monotonicNs] { record.integer(number) }
    record.integer(UInt8(level.rawValue))
    record.integer(isCut ? UInt8(LG_CUT) : 0)
    record.integer(UInt16(label.count))
    record.integer(UInt32(message.count))
    record.integer(UInt32(fields.bytes.count))
    record.integer(UInt16(file.count))
    record.integer(UInt16(0))
    record.integer(line ?? 0)
    record.integer(UInt32(0))
    for part in [label, file, message, fields.bytes] { record.raw(part) }
    self.init(LogChunk(record.bytes, of: run), at: 0)
  }

  private static func short(_ text: Substring) -> [UInt8] {
    Array(text.utf8.prefix(Int(UInt16.max)))
  }
}
