import AppGroup
import CLogLayout
import Platform

/// Saves the unsaved lines of this user's dead runs, and removes their segments.
struct Salvage: ~Copyable {
  private let segments: Directory
  private let containerPath: String

  init(_ group: AppGroup) throws(SystemError) {
    segments = try Directory(path: group.logSegmentsPath)
    containerPath = group.containerPath
  }

  /// Segments that cannot be saved are left for the next attempt; readers can read them.
  borrowing func saveAll() {
    for name in (try? segments.names()) ?? [] {
      if let run = RunName(segment: name) { try? save(run) }
    }
  }

  private borrowing func save(_ run: RunName) throws(SystemError) {
    let name = run.segmentName
    guard let status = try segments.status(of: name), status.kind == .file,
      status.ownerID == currentUserID()
    else { return }
    let lock = try segments.openForLooking(name)
    // A live run holds the lock, and so does another process that is salvaging this one.
    guard try lock.lockByte(0) else { return }
    guard try segments.status(of: name)?.inode == status.inode else { return }
    let segment = try ReadableFile(name, in: segments)
    let head = try segment.bytes(at: 0, atMost: Int(LG_HEADER_BYTES))
    if let header = RunHeader(parsing: head, isSegment: true) {
      try save(segment, header, run)
    }
    try segments.removeFile(name)
  }

  private borrowing func save(
    _ segment: ReadableFile, _ header: RunHeader, _ run: RunName
  ) throws(SystemError) {
    let directory = try LogFiles.openDirectory(in: containerPath)
    let indices = try Self.indices(of: run, in: directory)
    var saved = try Self.lastFile(indices.last, run, header.nonce, in: directory)
    let image = try RecordScanner.ofEnded(segment, header, from: saved?.position ?? 0)
    let end = image.endOfLastRecord
    if end == 0 { return }
    if saved?.position != image.position {
      let index = (indices.last ?? 0) + 1
      let fileHeader = header.ofFile(from: image.position)
      let file = try directory.makeFile(
        run.fileName(index), byteCount: fileHeader.recordsAt, mode: 0o640)
      try file.write(fileHeader.bytes, at: 0)
      saved = FileEnd(index: index, offset: fileHeader.recordsAt, position: image.position)
    }
    guard let saved else { return }
    let file = try directory.openForLooking(run.fileName(saved.index))
    try file.write(Array(image.bytes[..<end]), at: saved.offset)
    try file.syncData()
    try directory.sync()
  }

  /// The indices of the run's files that this user owns: others may use the same names.
  private static func indices(
    of run: RunName, in directory: borrowing Directory
  ) throws(SystemError) -> [Int] {
    var indices: [Int] = []
    for name in try directory.names() {
      guard let file = RunName.file(name), file.run == run,
        try directory.status(of: name)?.ownerID == currentUserID()
      else { continue }
      indices.append(file.index)
    }
    return indices.sorted()
  }

  /// The end of a run's last file, after its last whole record.
  private struct FileEnd {
    let index: Int
    let offset: Int
    let position: UInt64
  }

  private static func lastFile(
    _ index: Int?, _ run: RunName, _ nonce: UInt64, in directory: borrowing Directory
  ) throws(SystemError) -> FileEnd? {
    guard let index else { return nil }
    let file = try ReadableFile(run.fileName(index), in: directory)
    guard
      let header = RunHeader(
        parsing: try file.bytes(at: 0, atMost: Int(LG_HEADER_BYTES)), isSegment: false),
      header.nonce == nonce
    else { return nil }
    let scanner = RecordScanner(
      bytes: try file.bytes(at: header.recordsAt, count: LogOptions.largestFileBytes), nonce: nonce,
      position: header.position)
    let end = scanner.endOfLastRecord
    return FileEnd(
      index: index, offset: header.recordsAt + end, position: header.position + UInt64(end))
  }
}

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
    var place = 0
    while place < header.capacity,
      let data = segment.dataOffset(from: header.recordsAt + place).map({ $0 - header.recordsAt }),
      data < header.capacity
    {
      place = max(place, data & ~(Int(LG_ALIGNMENT) - 1))
      let count = min(scanBytes, header.capacity - place)
      let bytes = try segment.bytes(at: header.recordsAt + place, atMost: count)
      guard bytes.count > Int(LG_ALIGNMENT) else { break }
      // The last bytes may hold only part of a record.
      let isLast = bytes.count < count || place + count == header.capacity
      let end = isLast ? bytes.count : bytes.count - Int(LG_RECORD_LIMIT)
      let image = RecordScanner(bytes: bytes, nonce: header.nonce, position: 0)
      place += image.searchOldest(
        &oldest, from: least, at: place, upTo: end, capacity: header.capacity)
    }
    return oldest
  }

  /// Bytes of a segment searched at once; more than the largest record.
  static let scanBytes = 1 << 18

  /// Searches these bytes, which begin at offset `place` of a segment, for the oldest record.
  /// - Returns: the number of bytes searched.
  private func searchOldest(
    _ oldest: inout UInt64?, from least: UInt64, at place: Int, upTo end: Int, capacity: Int
  ) -> Int {
    var start = 0
    while start < end {
      start += Int(LG_ALIGNMENT)
      let at = start - Int(LG_ALIGNMENT)
      guard at + 16 <= bytes.count else { break }
      let position = word64(at) ^ nonce
      guard position >= least, position < oldest ?? 1 << 62,
        position & UInt64(capacity - 1) == UInt64(place + at)
      else { continue }
      let round = RecordScanner(bytes: bytes, nonce: nonce, position: position &- UInt64(at))
      guard let head = round.head(at: at), at + head.paddedBytes <= bytes.count else { continue }
      if round.isSound(head, at: at) { oldest = position }
      start = at + head.paddedBytes
    }
    return start
  }

  /// Offset of the end of the last whole record; 0 without a record.
  var endOfLastRecord: Int {
    var end = 0
    while let found = firstRecord(from: end).found { end = found.start + found.paddedBytes }
    return end
  }
}
