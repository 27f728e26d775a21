import AppGroup
import CLogLayout
import Platform

/// Reads the lines of one run: from its files, and what is not saved from its segment.
///
/// A run's records are bytes at positions that only grow, and every place says which it holds; so
/// where reading goes on is one number, whatever was rotated, saved or removed meanwhile.
final class RunReader {
  let run: LogRun
  let boot: [UInt8]
  let startedAtNs: UInt64
  private let name: RunName
  private let nonce: UInt64
  private var content: LogDirectories.Content
  private var current: CurrentFile?
  private var segment: (file: ReadableFile, header: RunHeader)?
  /// Of the next record.
  private var position: UInt64 = 0
  /// The number of the next line, if none is missing; 0 where the run is not read from its
  /// beginning, before the first line.
  private var number: UInt64
  private var entries: [LogEntry] = []
  private var cursor = 0

  /// Which file is being read. It is opened for each chunk: there may be more runs than a process
  /// may have files open.
  private struct CurrentFile {
    let index: Int
    let header: RunHeader
  }

  /// Bytes read at once; more than a record has.
  private static let chunkBytes = 1 << 18

  /// - Returns: nil if none of its files has a header.
  init?(
    _ key: LogDirectories.Key, _ content: LogDirectories.Content,
    in directories: borrowing LogDirectories, _ group: AppGroup
  ) {
    name = key.run
    self.content = content
    var first: RunHeader?
    for index in content.files where first == nil {
      first = (try? ReadableFile(key.run.fileName(index), in: directories.files)).flatMap {
        Self.header(of: $0, isSegment: false)
      }
    }
    let opened = content.hasSegment ? Self.openSegment(key, in: directories) : nil
    guard let header = first ?? opened?.header else { return nil }
    segment = opened.flatMap { $0.header.nonce == header.nonce ? $0 : nil }
    nonce = header.nonce
    boot = header.boot
    startedAtNs = header.wallNs
    number = header.position == 0 ? 1 : 0
    run = LogRun(
      name: key.run.text, pid: header.pid, uid: key.uid, role: header.role,
      isRoleHeld: group.roles(uid: key.uid, gid: .max).contains(header.role),
      session: header.session)
  }

  private static func header(of file: ReadableFile, isSegment: Bool) -> RunHeader? {
    guard let bytes = try? file.bytes(at: 0, atMost: Int(LG_HEADER_BYTES)) else { return nil }
    return RunHeader(parsing: bytes, isSegment: isSegment)
  }

  private static func openSegment(
    _ key: LogDirectories.Key, in directories: borrowing LogDirectories
  ) -> (file: ReadableFile, header: RunHeader)? {
    guard let file = try? ReadableFile(key.run.segmentName, in: directories.segments),
      (try? file.status().ownerID) == key.uid, let header = header(of: file, isSegment: true)
    else { return nil }
    return (file, header)
  }

  /// What there is now.
  func update(_ content: LogDirectories.Content) { self.content = content }

  /// Whether nothing more can come.
  func isOver(in directories: borrowing LogDirectories) -> Bool {
    !content.hasSegment && (try? next(in: directories)) == nil
  }

  /// The next entry, which stays the next; nil if there is none now.
  func next(in directories: borrowing LogDirectories) throws(SystemError) -> LogEntry? {
    while cursor == entries.count {
      entries.removeAll(keepingCapacity: true)
      cursor = 0
      if try readFile(in: directories) { continue }
      if try readSegment() { continue }
      // What was saved since the file was looked at may be gone from the segment.
      if try !readFile(in: directories) { return nil }
    }
    return entries[cursor]
  }

  func drop() { cursor += 1 }

  // MARK: Files

  /// - Returns: whether it got on.
  private func readFile(in directories: borrowing LogDirectories) throws(SystemError) -> Bool {
    if current == nil, !findNextFile(in: directories) { return false }
    while let header = current?.header, let index = current?.index {
      let offset = header.recordsAt + Int(position - header.position)
      var bytes: [UInt8] = []
      // A file that was removed meanwhile, or is longer than any, has no more.
      if offset < LogOptions.largestFileBytes, let file = open(index, in: directories) {
        bytes = try file.bytes(at: offset, atMost: Self.chunkBytes)
      }
      if take(RecordScanner(bytes: bytes, nonce: nonce, position: position)) { return true }
      if bytes.count == Self.chunkBytes {
        position += UInt64(Self.chunkBytes - Int(LG_RECORD_LIMIT))
      } else if !findNextFile(in: directories) {
        return false
      }
    }
    return false
  }

  /// Takes the records there are, from the first whole one on: what lies before it was broken, or
  /// never finished.
  private func take(_ scanner: RecordScanner) -> Bool {
    guard var found = scanner.firstRecord(from: 0) else { return false }
    while true {
      if !found.isFiller, let record = scanner.line(of: found, by: run) {
        if number > 0, record.sequence > number {
          entries.append(.missing(count: record.sequence - number, run: run))
        }
        number = record.sequence &+ 1
        entries.append(.line(record))
      }
      let end = found.start + found.paddedBytes
      position = scanner.position + UInt64(end)
      guard let next = scanner.record(at: end) else { return true }
      found = next
    }
  }

  /// Goes to the file behind the current one.
  private func findNextFile(in directories: borrowing LogDirectories) -> Bool {
    for index in content.files where index > current?.index ?? 0 {
      guard
        let header = open(index, in: directories).flatMap({ Self.header(of: $0, isSegment: false) }
        ),
        header.nonce == nonce
      else { continue }
      current = CurrentFile(index: index, header: header)
      position = max(position, header.position)
      return true
    }
    return false
  }

  private func open(_ index: Int, in directories: borrowing LogDirectories) -> ReadableFile? {
    guard let file = try? ReadableFile(name.fileName(index), in: directories.files),
      (try? file.status().ownerID) == run.uid
    else { return nil }
    return file
  }

  // MARK: Segment

  private func readSegment() throws(SystemError) -> Bool {
    guard let (file, header) = segment else { return false }
    let isLive = file.isLocked
    let near = try RecordScanner(
      of: file, header, from: position, count: Self.chunkBytes)
    if near.record(at: 0) != nil { return take(near) }
    // Behind a record that a thread is still writing there is nothing yet; behind one that its
    // process died in, there may be.
    if isLive { return false }
    let left = try RecordScanner.ofEnded(file, header, from: position)
    // As where a run's first files are gone: it is not read from its beginning.
    if position == 0, left.position > 0 { number = 0 }
    return take(left)
  }
}
