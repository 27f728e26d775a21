import AppGroup
import CLogLayout
import Platform

/// The header of a segment or file: which run of which process wrote it.
struct RunHeader: Hashable, Sendable {
  var recordsAt: Int
  let nonce: UInt64
  /// Position of the first record.
  var position: UInt64
  /// Bytes of records in a segment; 0 in a file.
  var capacity: Int
  let boot: [UInt8]
  let pid: UInt32
  let wallNs: UInt64
  let monotonicNs: UInt64
  let role: Role
  let session: String

  /// The header of a new segment.
  init(_ role: Role, session: String, capacity: Int, wallNs: UInt64) {
    recordsAt = Int(LG_SEGMENT_RECORDS)
    nonce = .random(in: 1 ... .max)
    position = 0
    self.capacity = capacity
    boot = bootID()
    pid = UInt32(bitPattern: currentProcessID())
    self.wallNs = wallNs
    monotonicNs = monotonicNowNs()
    self.role = role
    self.session = session
  }

  /// The header of a file of the same run whose first record has this position.
  func ofFile(from position: UInt64) -> RunHeader {
    var header = self
    header.recordsAt = Int(LG_FILE_RECORDS)
    header.capacity = 0
    header.position = position
    return header
  }

  static func isSession(_ text: String) -> Bool {
    (1...Int(LG_SESSION_BYTES)).contains(text.utf8.count)
      && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }
  }

  // MARK: Bytes

  var bytes: [UInt8] {
    var bytes: [UInt8] = Array(repeating: 0, count: Int(LG_HEADER_BYTES))
    bytes.set(littleEndian: LG_MAGIC, at: 0)
    bytes.set(littleEndian: UInt32(LG_ABI_VERSION), at: 8)
    bytes.set(littleEndian: UInt32(recordsAt), at: 12)
    bytes.set(littleEndian: nonce, at: 16)
    bytes.set(littleEndian: position, at: 24)
    bytes.set(littleEndian: UInt64(capacity), at: 32)
    bytes.replaceSubrange(40..<56, with: boot)
    bytes.set(littleEndian: pid, at: 56)
    bytes.set(littleEndian: wallNs, at: 64)
    bytes.set(littleEndian: monotonicNs, at: 72)
    for (text, lengthAt, at) in [(role.rawValue, 80, 96), (session, 81, 128)] {
      bytes[lengthAt] = UInt8(text.utf8.count)
      bytes.replaceSubrange(at..<at + text.utf8.count, with: text.utf8)
    }
    let end = Int(LG_AT_CRC)
    bytes.set(
      littleEndian: bytes.withRawSpan { recordChecksum($0.extracting(first: end)) }, at: end)
    return bytes
  }

  /// Parses a header from untrusted bytes; nil if it is invalid.
  /// - Parameter isSegment: whether a segment's header is expected, rather than a file's.
  init?(parsing bytes: [UInt8], isSegment: Bool) {
    guard bytes.count >= Int(LG_HEADER_BYTES) else { return nil }
    func word<Word: FixedWidthInteger>(_ type: Word.Type, at offset: Int) -> Word {
      Word(littleEndian: bytes[offset..<offset + Word.bitWidth / 8])
    }
    func text(lengthAt: Int, at: Int, limit: Int) -> String? {
      let count = Int(bytes[lengthAt])
      return count > limit ? nil : String(validating: bytes[at..<at + count], as: UTF8.self)
    }
    let end = Int(LG_AT_CRC)
    let sum = bytes.withRawSpan { recordChecksum($0.extracting(first: end)) }
    guard word(UInt64.self, at: 0) == LG_MAGIC,
      word(UInt32.self, at: 8) == UInt32(LG_ABI_VERSION), word(UInt32.self, at: end) == sum,
      let role = text(lengthAt: 80, at: 96, limit: Int(LG_ROLE_BYTES)).flatMap(Role.init),
      let session = text(lengthAt: 81, at: 128, limit: Int(LG_SESSION_BYTES)),
      Self.isSession(session)
    else { return nil }
    recordsAt = Int(word(UInt32.self, at: 12))
    nonce = word(UInt64.self, at: 16)
    position = word(UInt64.self, at: 24)
    let capacity = word(UInt64.self, at: 32)
    self.capacity = Int(clamping: capacity)
    boot = Array(bytes[40..<56])
    pid = word(UInt32.self, at: 56)
    wallNs = word(UInt64.self, at: 64)
    monotonicNs = word(UInt64.self, at: 72)
    self.role = role
    self.session = session
    // Other values would lead out of bounds later.
    guard position.isMultiple(of: UInt64(LG_ALIGNMENT)), position < 1 << 62 else { return nil }
    if isSegment {
      guard recordsAt == Int(LG_SEGMENT_RECORDS), position == 0, capacity <= 1 << 30,
        capacity >= UInt64(LG_RECORD_LIMIT), capacity.nonzeroBitCount == 1
      else { return nil }
    } else {
      guard recordsAt == Int(LG_FILE_RECORDS), capacity == 0 else { return nil }
    }
  }
}

extension [UInt8] {
  func withRawSpan<Result>(_ body: (RawSpan) -> Result) -> Result {
    // SAFETY: bytes have no padding.
    body(unsafe span.bytes)
  }
}
