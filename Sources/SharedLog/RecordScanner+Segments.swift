import CLogLayout
import Platform

extension RecordScanner {
  /// Reads a segment's bytes in the order of their positions, from `position` on.
  init(
    of segment: ReadableFile, _ header: RunHeader, from position: UInt64, count: Int = .max
  ) throws(SystemError) {
    let start = Int(position & UInt64(header.capacity - 1))
    let count = min(count, header.capacity)
    let first = min(count, header.capacity - start)
    var bytes = try segment.bytes(at: header.recordsAt + start, atMost: first)
    // A truncated segment is shorter.
    if first < count, bytes.count == first {
      bytes += try segment.bytes(at: header.recordsAt, atMost: count - first)
    }
    self.init(bytes: bytes, nonce: header.nonce, position: position)
  }

  /// A dead run's segment, from a position on. If files from there on were removed, the segment has
  /// overwritten that position too, and reading begins with its oldest record.
  static func ofEnded(
    _ segment: ReadableFile, _ header: RunHeader, from position: UInt64
  ) throws(SystemError) -> RecordScanner {
    let next = try RecordScanner(of: segment, header, from: position)
    if next.firstRecord(from: 0).found != nil { return next }
    guard let oldest = try oldestPosition(in: segment, header, from: position) else { return next }
    return try RecordScanner(of: segment, header, from: oldest)
  }

  /// The least position at or after `least` of the records in a segment, however often the segment
  /// has wrapped around. Holes are skipped, so a segment of hostile length costs nothing.
  static func oldestPosition(
    in segment: ReadableFile, _ header: RunHeader, from least: UInt64
  ) throws(SystemError) -> UInt64? {
    var oldest: UInt64?
    var offset = 0
    while offset < header.capacity,
      let data = segment.dataOffset(from: header.recordsAt + offset).map({ $0 - header.recordsAt }),
      data < header.capacity
    {
      offset = max(offset, data & ~(Int(LG_ALIGNMENT) - 1))
      let count = min(scanBytes, header.capacity - offset)
      let bytes = try segment.bytes(at: header.recordsAt + offset, atMost: count)
      guard bytes.count > Int(LG_ALIGNMENT) else { break }
      // The last bytes may hold only part of a record.
      let isLast = bytes.count < count || offset + count == header.capacity
      let end = isLast ? bytes.count : bytes.count - Int(LG_RECORD_LIMIT)
      let image = RecordScanner(bytes: bytes, nonce: header.nonce, position: 0)
      offset += image.searchOldest(
        &oldest, from: least, at: offset, upTo: end, capacity: header.capacity)
    }
    return oldest
  }

  /// Bytes of a segment searched at once; more than the largest record.
  static let scanBytes = 1 << 18

  /// Searches these bytes, which begin at `offset` of a segment, for the oldest record.
  /// - Returns: the number of bytes searched.
  private func searchOldest(
    _ oldest: inout UInt64?, from least: UInt64, at offset: Int, upTo end: Int, capacity: Int
  ) -> Int {
    var start = 0
    while start < end {
      start += Int(LG_ALIGNMENT)
      let at = start - Int(LG_ALIGNMENT)
      guard at + 16 <= bytes.count else { break }
      let position = word64(at) ^ nonce
      guard position >= least, position < oldest ?? 1 << 62,
        position & UInt64(capacity - 1) == UInt64(offset + at)
      else { continue }
      let round = RecordScanner(bytes: bytes, nonce: nonce, position: position &- UInt64(at))
      guard let head = round.head(at: at), at + head.paddedBytes <= bytes.count else { continue }
      if round.isSound(head, at: at) { oldest = position }
      start = at + head.paddedBytes
    }
    return start
  }
}
