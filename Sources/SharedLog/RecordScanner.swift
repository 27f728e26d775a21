import CLogLayout
import Platform

/// Finds the records in untrusted bytes. Accepts only records that are whole, within bounds, and
/// match their checksum.
struct RecordScanner {
  let bytes: [UInt8]
  let nonce: UInt64
  /// Position of the first byte.
  let position: UInt64

  /// A record whose checksum is right.
  struct Found {
    /// Offset of the record, and its bytes with padding.
    let start: Int
    let paddedBytes: Int
    let isFiller: Bool
  }

  /// The record at an offset; nil if none begins there.
  func record(at start: Int) -> Found? {
    guard let head = head(at: start), start + head.paddedBytes <= bytes.count,
      isSound(head, at: start)
    else { return nil }
    return Found(start: start, paddedBytes: head.paddedBytes, isFiller: head.isFiller)
  }

  /// The result of a search: the first record found, and the offset up to which there is no other.
  struct Search {
    let found: Found?
    let end: Int
  }

  /// Finds the first record at or after an offset. The search also ends at a record that continues
  /// beyond the bytes.
  ///
  /// A record with consistent lengths and a wrong checksum is skipped as a whole. So each byte is
  /// checksummed at most once, and text inside a broken record is never taken for a record.
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

  /// Offset of the end of the last whole record; 0 without a record.
  var endOfLastRecord: Int {
    var end = 0
    while let found = firstRecord(from: end).found { end = found.start + found.paddedBytes }
    return end
  }

  /// The length that a record's first bytes claim: enough to skip it, not to trust it.
  struct Head {
    let byteCount: Int
    let paddedBytes: Int
    let isFiller: Bool
  }

  /// The head at an offset; nil if the mark or the lengths are invalid.
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

  /// Bytes of label, source, message and metadata together.
  private func partBytes(at start: Int) -> Int {
    Int(word16(start + 42)) + Int(word32(start + 44)) + Int(word32(start + 48))
      + Int(word16(start + 52))
  }

  func isSound(_ head: Head, at start: Int) -> Bool {
    if head.isFiller { return true }
    let checked = start + Int(LG_CHECKED)..<start + head.byteCount
    return bytes.withRawSpan { recordChecksum($0.extracting(checked)) } == word32(start + 12)
  }

  /// Whether a record is a line: its parts add up to its length, its fields to their part, and its
  /// level is known.
  func isLine(_ found: Found) -> Bool {
    if found.isFiller || LogLevel(rawValue: bytes[found.start + 40]) == nil { return false }
    let parts = RecordParts(of: bytes, at: found.start)
    guard parts.metadata.upperBound == found.start + Int(word32(found.start + 8)) else {
      return false
    }
    return parts.metadata.isEmpty || bytes.fields(parts.metadata) != nil
  }

  // MARK: Words; an offset out of bounds traps

  @inline(__always) func word16(_ at: Int) -> UInt16 { bytes.word(at: at) }
  @inline(__always) func word32(_ at: Int) -> UInt32 { bytes.word(at: at) }
  @inline(__always) func word64(_ at: Int) -> UInt64 { bytes.word(at: at) }
}

/// Where the texts of a record lie, according to its head.
struct RecordParts {
  let label: Range<Int>
  let source: Range<Int>
  let message: Range<Int>
  let metadata: Range<Int>

  init(of bytes: [UInt8], at start: Int) {
    var end = start + Int(LG_RECORD_BYTES)
    func part(_ count: Int) -> Range<Int> {
      defer { end += count }
      return end..<end + count
    }
    label = part(Int(bytes.word(at: start + 42) as UInt16))
    source = part(Int(bytes.word(at: start + 52) as UInt16))
    message = part(Int(bytes.word(at: start + 44) as UInt32))
    metadata = part(Int(bytes.word(at: start + 48) as UInt32))
  }
}

extension [UInt8] {
  /// An offset out of bounds traps.
  @inline(__always)
  func word<Word: FixedWidthInteger & BitwiseCopyable>(at offset: Int) -> Word {
    // SAFETY: every bit pattern is a valid word, and the span checks the offset.
    unsafe span.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: Word.self)
  }

  /// The keys and values of a record; nil if their lengths do not add up.
  func fields(_ range: Range<Int>) -> [LogField]? {
    var fields: [LogField] = []
    var at = range.lowerBound
    while at < range.upperBound {
      guard at + Int(LG_FIELD_BYTES) <= range.upperBound else { return nil }
      let flags: UInt16 = word(at: at)
      let keyBytes = Int(word(at: at + 2) as UInt16)
      let valueBytes = Int(word(at: at + 4) as UInt16)
      at += Int(LG_FIELD_BYTES)
      guard at + keyBytes + valueBytes <= range.upperBound else { return nil }
      let key = String(decoding: self[at..<at + keyBytes], as: UTF8.self)
      at += keyBytes
      let value = String(decoding: self[at..<at + valueBytes], as: UTF8.self)
      at += valueBytes
      fields.append(LogField(key, value, isPrivate: flags & UInt16(LG_PRIVATE) != 0))
    }
    return fields
  }
}
