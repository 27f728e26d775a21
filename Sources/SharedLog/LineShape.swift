import CLogLayout

/// The lengths and numbers of a line that its record's head holds. The texts are passed separately
/// and only borrowed, so that a log call retains no reference to them.
struct LineShape {
  let level: LogLevel
  let sourceBytes: Int
  let sourceLine: UInt32
  let isCut: Bool
  let labelBytes: Int
  let messageBytes: Int
  let metadataBytes: Int

  @inline(__always)
  init(
    _ level: LogLevel, _ message: String, _ label: String, _ metadata: [LogField],
    _ source: String, _ sourceLine: UInt32, isCut: Bool = false
  ) {
    self.level = level
    sourceBytes = source.utf8.count
    self.sourceLine = sourceLine
    self.isCut = isCut
    labelBytes = label.utf8.count
    messageBytes = message.utf8.count
    metadataBytes = metadata.isEmpty ? 0 : metadata.byteCount
  }

  /// Bytes of the record, without padding.
  var byteCount: Int {
    Int(LG_RECORD_BYTES) + labelBytes + sourceBytes + messageBytes + metadataBytes
  }

  /// Maximum bytes of a label, and of a source.
  static let longestLabel = 255

  var isTooLong: Bool {
    byteCount > Int(LG_RECORD_LIMIT) || labelBytes > Self.longestLabel
      || sourceBytes > Self.longestLabel
  }
}

/// A line truncated to fit a record: metadata that exceeds half a record is cut to that, the
/// message to the rest.
struct CutLine {
  let label: String
  let metadata: [LogField]
  let message: String
  let source: String

  init(_ message: String, _ label: String, _ metadata: [LogField], _ source: String) {
    self.label = label.cut(toBytes: LineShape.longestLabel)
    self.source = source.cut(toBytes: LineShape.longestLabel)
    let half = Int(LG_RECORD_LIMIT) / 2
    self.metadata = metadata.byteCount > half ? metadata.cut(toBytes: half) : metadata
    let room =
      Int(LG_RECORD_LIMIT) - Int(LG_RECORD_BYTES) - self.label.utf8.count
      - self.source.utf8.count - self.metadata.byteCount
    self.message = message.cut(toBytes: room)
  }
}

extension [LogField] {
  /// Bytes that the fields take in a record.
  fileprivate var byteCount: Int {
    reduce(0) { $0 + Int(LG_FIELD_BYTES) + $1.key.utf8.count + $1.value.utf8.count }
  }

  fileprivate func cut(toBytes count: Int) -> [LogField] {
    var room = count
    return compactMap { field in
      let key = field.key.cut(toBytes: 255)
      let rest = room - Int(LG_FIELD_BYTES) - key.utf8.count
      if rest < 0 { return nil }
      let value = field.value.cut(toBytes: rest)
      room = rest - value.utf8.count
      return LogField(key, value, isPrivate: field.isPrivate)
    }
  }
}

extension String {
  /// The longest prefix of whole characters within `count` bytes.
  fileprivate func cut(toBytes count: Int) -> String {
    if utf8.count <= count { return self }
    let end = utf8.index(startIndex, offsetBy: count)
    return String(self[..<end])
  }
}
