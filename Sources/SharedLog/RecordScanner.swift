import CLogLayout
import Platform

/// Finds the records in bytes that anybody may have written: nothing is believed that is not whole
/// and within bounds.
struct RecordScanner {
  let bytes: [UInt8]
  let nonce: UInt64
  /// Of the first byte.
  let position: UInt64

  /// A record that is what its checksum says.
  struct Found {
    /// Where in the bytes it begins, and how many it takes with what fills it up.
    let start: Int
    let paddedBytes: Int
    let isFiller: Bool
  }

  /// The record that begins at a place; nil if none does.
  func record(at start: Int) -> Found? {
    guard let head = head(at: start), start + head.paddedBytes <= bytes.count,
      isSound(head, at: start)
    else { return nil }
    return Found(start: start, paddedBytes: head.paddedBytes, isFiller: head.isFiller)
  }

  /// What a search found, and up to where there is none but that.
  struct Search {
    let found: Found?
    let end: Int
  }

  /// Looks for the first record at a place or behind it. The search ends, too, at one that the
  /// bytes hold only the beginning of.
  ///
  /// A head whose lengths agree is passed as a whole if its checksum is wrong: each byte is checked
  /// once at most, whatever lies there, and what stands in a broken record's text is no record.
  func firstRecord(from start: Int) -> Search {
    var start = start
    while start + 16 <= bytes.count {
      guard let head = head(at: start) else {
        start += Int(LG_ALIGNMENT)
        continue
      }
      let end = start + head.paddedBytes
      if end > bytes.count { return Search(found: nil, end: start) }
      if isSound(head, at: start) {
        let found = Found(start: start, paddedBytes: head.paddedBytes, isFiller: head.isFiller)
        return Search(found: found, end: start)
      }
      start = end
    }
    return Search(found: nil, end: start)
  }

  /// What a record's beginning says of its length: enough to pass it, not to believe it.
  struct Head {
    let byteCount: Int
    let paddedBytes: Int
    let isFiller: Bool
  }

  /// The beginning of a record at a place; nil where mark or lengths are no record's.
  func head(at start: Int) -> Head? {
    guard start + 16 <= bytes.count, word64(start) == nonce ^ (position &+ UInt64(start)) else {
      return nil
    }
    let size = word32(start + 8)
    let isFiller = size & UInt32(LG_FILLER) != 0
    let byteCount = Int(size & ~UInt32(LG_FILLER))
    let alignment = Int(LG_ALIGNMENT)
    guard byteCount <= Int(LG_RECORD_LIMIT) else { return nil }
    let padded = (byteCount + alignment - 1) & ~(alignment - 1)
    if isFiller {
      guard byteCount == padded, byteCount > 0, word32(start + 12) == ~UInt32(byteCount) else {
        return nil
      }
    } else {
      guard byteCount >= Int(LG_RECORD_BYTES), start + Int(LG_RECORD_BYTES) <= bytes.count,
        partBytes(at: start) == byteCount - Int(LG_RECORD_BYTES)
      else { return nil }
    }
    return Head(byteCount: byteCount, paddedBytes: padded, isFiller: isFiller)
  }

  /// Of label, source, message and metadata together.
  private func partBytes(at start: Int) -> Int {
    Int(word16(start + 42)) + Int(word32(start + 44)) + Int(word32(start + 48))
      + Int(word16(start + 52))
  }

  func isSound(_ head: Head, at start: Int) -> Bool {
    if head.isFiller { return true }
    let checked = start + Int(LG_CHECKED)..<start + head.byteCount
    return bytes.withRawSpan { recordChecksum($0.extracting(checked)) } == word32(start + 12)
  }

  /// What a record says; nil if its parts do not make up the whole, or its level is unknown.
  func line(of found: Found, by run: LogRun) -> LogRecord? {
    let start = found.start
    guard let level = LogLevel(rawValue: bytes[start + 40]) else { return nil }
    let labelBytes = Int(word16(start + 42))
    let messageBytes = Int(word32(start + 44))
    let metadataBytes = Int(word32(start + 48))
    let sourceBytes = Int(word16(start + 52))
    let end = start + Int(word32(start + 8))
    var at = start + Int(LG_RECORD_BYTES)
    guard end - at == labelBytes + messageBytes + metadataBytes + sourceBytes else { return nil }
    func text(_ count: Int) -> String {
      defer { at += count }
      return String(decoding: bytes[at..<at + count], as: UTF8.self)
    }
    let label = text(labelBytes)
    let file = text(sourceBytes)
    let message = text(messageBytes)
    guard let metadata = fields(at..<end) else { return nil }
    let sourceLine = word32(start + 56)
    return LogRecord(
      wallNs: word64(start + 24), monotonicNs: word64(start + 32), run: run,
      sequence: word64(start + 16), level: level, label: label, message: message,
      metadata: metadata, source: file.isEmpty ? "" : "\(file):\(sourceLine)",
      isCut: bytes[start + 41] & UInt8(LG_CUT) != 0)
  }

  private func fields(_ range: Range<Int>) -> [LogField]? {
    var fields: [LogField] = []
    var at = range.lowerBound
    while at < range.upperBound {
      guard at + Int(LG_FIELD_BYTES) <= range.upperBound else { return nil }
      let flags = word16(at)
      let keyBytes = Int(word16(at + 2))
      let valueBytes = Int(word16(at + 4))
      at += Int(LG_FIELD_BYTES)
      guard at + keyBytes + valueBytes <= range.upperBound else { return nil }
      let key = String(decoding: bytes[at..<at + keyBytes], as: UTF8.self)
      at += keyBytes
      let value = String(decoding: bytes[at..<at + valueBytes], as: UTF8.self)
      at += valueBytes
      fields.append(LogField(key, value, isPrivate: flags & UInt16(LG_PRIVATE) != 0))
    }
    return fields
  }

  // MARK: Words, within bounds or the process ends

  @inline(__always) func word16(_ at: Int) -> UInt16 { word(at) }
  @inline(__always) func word32(_ at: Int) -> UInt32 { word(at) }
  @inline(__always) func word64(_ at: Int) -> UInt64 { word(at) }

  @inline(__always)
  private func word<Word: FixedWidthInteger & BitwiseCopyable>(_ at: Int) -> Word {
    // SAFETY: every value of the bytes is a word, and the span checks the place.
    unsafe bytes.span.bytes.unsafeLoadUnaligned(fromByteOffset: at, as: Word.self)
  }
}
