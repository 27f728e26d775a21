import CLogLayout

/// What a call logs, measured so that it fits a record.
struct Line {
  let level: LogLevel
  var label: String
  var message: String
  var metadata: [LogField]
  let source: StaticString
  let sourceLine: UInt32
  private(set) var isCut = false
  /// Those of the record, without what fills it up.
  private(set) var byteCount = 0
  private(set) var metadataBytes = 0

  static let longestLabel = 255

  init(
    _ level: LogLevel, _ message: String, label: String, _ metadata: [LogField],
    _ source: StaticString, _ sourceLine: UInt32
  ) {
    self.level = level
    self.message = message
    self.label = label
    self.metadata = metadata
    self.source = source
    self.sourceLine = sourceLine
    measure()
    if byteCount > Int(LG_RECORD_LIMIT) || label.utf8.count > Self.longestLabel { cut() }
  }

  private mutating func measure() {
    metadataBytes = metadata.reduce(0) {
      $0 + Int(LG_FIELD_BYTES) + $1.key.utf8.count + $1.value.utf8.count
    }
    byteCount =
      Int(LG_RECORD_BYTES) + label.utf8.count + source.utf8CodeUnitCount + message.utf8.count
      + metadataBytes
  }

  /// Leaves out what a record cannot hold: of the message so much as need be, of metadata what is
  /// longer than half a record.
  private mutating func cut() {
    isCut = true
    label = label.cut(toBytes: Self.longestLabel)
    let half = Int(LG_RECORD_LIMIT) / 2
    if metadataBytes > half {
      var room = half
      metadata = metadata.compactMap { field in
        let key = field.key.cut(toBytes: 255)
        let rest = room - Int(LG_FIELD_BYTES) - key.utf8.count
        if rest < 0 { return nil }
        let value = field.value.cut(toBytes: rest)
        room = rest - value.utf8.count
        return LogField(key, value, isPrivate: field.isPrivate)
      }
    }
    measure()
    let excess = byteCount - Int(LG_RECORD_LIMIT)
    if excess > 0 { message = message.cut(toBytes: message.utf8.count - excess) }
    measure()
  }
}

extension String {
  /// As much of its beginning as so many bytes hold, in whole characters of Unicode.
  fileprivate func cut(toBytes count: Int) -> String {
    if utf8.count <= count { return self }
    let end = utf8.index(startIndex, offsetBy: count)
    return String(self[..<end])
  }
}
