import FrameBus
import Platform

/// The offsets of a recording's frames. A finished recording has the index at its end; for one
/// that is unfinished or damaged, it is rebuilt by a search for the frames.
public struct RecordingIndex: Hashable, Sendable {
  struct Entry: Hashable, Sendable {
    let offset: UInt64
    let sequence: UInt64

    static let byteCount = 16
  }

  let head: FileHead
  let entries: [Entry]
  /// Whether the recorder finished the file.
  public let isFinished: Bool
  /// Frames that the recorder did not receive; nil if the recording was not finished.
  public let dropped: UInt64?

  public var count: Int { entries.count }
  public var stream: StreamName { head.stream }

  /// Parses a recording in memory. The bytes are untrusted: throws if they are not a recording.
  public init(parsing bytes: [UInt8]) throws(RecordingReadError) {
    try self.init(
      RecordingBytes(byteCount: bytes.count) { (offset, count) throws(SystemError) in
        let start = min(offset, bytes.count)
        return Array(bytes[start..<min(start + count, bytes.count)])
      })
  }

  init(of file: ReadableFile) throws(RecordingReadError) {
    try self.init(
      RecordingBytes(byteCount: file.byteCount) { (offset, count) throws(SystemError) in
        try file.bytes(at: offset, count: count)
      })
  }

  private init(_ file: RecordingBytes) throws(RecordingReadError) {
    head = try FileHead(file.read(0, HeadBlock.blockBytes)[...])
    if let end = try file.end(of: head.id), let stored = try file.storedEntries(end) {
      entries = stored
      isFinished = true
      dropped = end.dropped
    } else {
      entries = try file.foundEntries(of: head.id)
      isFinished = false
      dropped = nil
    }
  }
}

extension [RecordingIndex.Entry] {
  /// The index as it is stored in the file.
  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count * Element.byteCount)
    for entry in self {
      for word in [entry.offset, entry.sequence] {
        bytes.append(littleEndian: word)
      }
    }
    return bytes
  }
}

/// The bytes of a recording, in memory or in a file.
private struct RecordingBytes {
  private static let windowBytes = 256 * HeadBlock.blockBytes

  let byteCount: Int
  private let source: (_ offset: Int, _ count: Int) throws(SystemError) -> [UInt8]

  init(
    byteCount: Int,
    _ source: @escaping (_ offset: Int, _ count: Int) throws(SystemError) -> [UInt8]
  ) {
    self.byteCount = byteCount
    self.source = source
  }

  /// Reads `count` bytes, or fewer at the end of the file.
  func read(_ offset: Int, _ count: Int) throws(RecordingReadError) -> [UInt8] {
    do throws(SystemError) { return try source(offset, count) } catch { throw .system(error) }
  }

  /// The last block, if the recording was finished.
  func end(of file: HeadBlock.FileID) throws(RecordingReadError) -> FileEnd? {
    let offset = byteCount - HeadBlock.blockBytes
    guard offset > 0, offset % HeadBlock.blockBytes == 0 else { return nil }
    return FileEnd(try read(offset, HeadBlock.blockBytes)[...], of: file, at: UInt64(offset))
  }

  /// The index at the end; nil if its checksum is wrong or it names impossible offsets.
  func storedEntries(_ end: FileEnd) throws(RecordingReadError) -> [RecordingIndex.Entry]? {
    let size = RecordingIndex.Entry.byteCount
    guard end.indexOffset >= UInt64(HeadBlock.blockBytes), end.indexOffset <= end.offset,
      end.entryCount <= (end.offset - end.indexOffset) / UInt64(size)
    else { return nil }
    let bytes = try read(Int(end.indexOffset), Int(end.entryCount) * size)
    guard bytes.count == Int(end.entryCount) * size,
      checksum(of: bytes[...]) == end.indexChecksum
    else { return nil }
    var entries: [RecordingIndex.Entry] = []
    entries.reserveCapacity(Int(end.entryCount))
    var least = UInt64(HeadBlock.blockBytes)
    for start in stride(from: 0, to: bytes.count, by: size) {
      let entry = RecordingIndex.Entry(
        offset: bytes[...].word(at: start), sequence: bytes[...].word(at: start + 8))
      guard entry.offset >= least, entry.offset < end.indexOffset else { return nil }
      least = entry.offset + UInt64(HeadBlock.blockBytes)
      entries.append(entry)
    }
    return entries
  }

  /// Every complete frame of the file. Where none begins, the search goes on at the next block: a
  /// recorder that was killed leaves gaps where frames were not completely written.
  func foundEntries(of file: HeadBlock.FileID) throws(RecordingReadError) -> [RecordingIndex.Entry]
  {
    var entries: [RecordingIndex.Entry] = []
    var window: [UInt8] = []
    var windowStart = 0
    var offset = HeadBlock.blockBytes
    var isSearching = false
    while offset + HeadBlock.byteCount + 8 <= byteCount {
      if offset + HeadBlock.blockBytes > windowStart + window.count {
        windowStart = offset
        // From frame to frame this reads one block each; only a search reads ahead.
        window = try read(offset, isSearching ? Self.windowBytes : HeadBlock.blockBytes)
      }
      let block = window.dropFirst(offset - windowStart)
      if let frame = RecordedFrame(block, of: file, at: UInt64(offset), fileBytes: byteCount) {
        entries.append(
          RecordingIndex.Entry(offset: UInt64(offset), sequence: frame.sequence.rawValue))
        offset = Int(frame.end)
        isSearching = false
      } else {
        offset += HeadBlock.blockBytes
        isSearching = true
      }
    }
    return entries
  }
}
