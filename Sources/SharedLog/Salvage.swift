import AppGroup
import CLogLayout
import Platform

/// Saves what dead runs of this user left in their segments, and removes those.
struct Salvage: ~Copyable {
  private let segments: Directory
  private let containerPath: String

  init(_ group: AppGroup) throws(SystemError) {
    segments = try Directory(path: group.logSegmentsPath)
    containerPath = group.containerPath
  }

  /// What cannot be saved stays for another time: it can be read where it is.
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
    // A run that goes on has the lock; so has another process that is saving this one.
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

  /// Those of the run's files that are this user's: others may have made files of its name.
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

  /// Where a run's last file ends: its last whole record.
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
  /// The bytes of a segment in the order of their positions, from one on.
  init(
    of segment: ReadableFile, _ header: RunHeader, from position: UInt64, count: Int = .max
  ) throws(SystemError) {
    let place = Int(position & UInt64(header.capacity - 1))
    let count = min(count, header.capacity)
    let first = min(count, header.capacity - place)
    var bytes = try segment.bytes(at: header.recordsAt + place, atMost: first)
    // One that was truncated has no more.
    if first < count, bytes.count == first {
      bytes += try segment.bytes(at: header.recordsAt, atMost: count - first)
    }
    self.init(bytes: bytes, nonce: header.nonce, position: position)
  }

  /// What the segment of a run that has ended holds from a position on. Where files with lines
  /// from there on were removed, they were overwritten too: then it begins with the oldest record.
  static func ofEnded(
    _ segment: ReadableFile, _ header: RunHeader, from position: UInt64
  ) throws(SystemError) -> RecordScanner {
    let next = try RecordScanner(of: segment, header, from: position)
    if next.firstRecord(from: 0) != nil { return next }
    let whole = try RecordScanner(of: segment, header, from: 0)
    guard let oldest = whole.oldestPosition(from: position, capacity: header.capacity) else {
      return next
    }
    return try RecordScanner(of: segment, header, from: oldest)
  }

  /// Of the records in a segment's bytes that lie at a position or behind it, however often the
  /// segment has come round.
  private func oldestPosition(from least: UInt64, capacity: Int) -> UInt64? {
    var oldest: UInt64?
    for start in stride(from: 0, through: bytes.count - 16, by: Int(LG_ALIGNMENT)) {
      let place = word64(start) ^ nonce
      guard place >= least, place < oldest ?? 1 << 62,
        place & UInt64(capacity - 1) == UInt64(start)
      else { continue }
      let round = RecordScanner(bytes: bytes, nonce: nonce, position: place - UInt64(start))
      if round.record(at: start) != nil { oldest = place }
    }
    return oldest
  }

  /// Behind the last whole record; 0 if there is none.
  var endOfLastRecord: Int {
    var end = 0
    while let found = firstRecord(from: end) { end = found.start + found.paddedBytes }
    return end
  }
}
