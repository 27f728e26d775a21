import AppGroup
import CLogLayout
import Platform

/// Saves the unsaved lines of this user's dead runs, and removes their segments.
struct Salvage: ~Copyable {
  private let segments: Directory
  private let logsPath: String

  init(_ group: AppGroup) throws(SystemError) {
    segments = try Directory(path: group.logSegmentsPath)
    logsPath = group.logsPath
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
    let lock = try segments.openForInspection(name)
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
    let directory = try Directory(path: logsPath)
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
    let file = try directory.openForInspection(run.fileName(saved.index))
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
