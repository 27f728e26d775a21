import AppGroup
import CLogLayout
import Platform

/// Reads the lines of one run: from its files, and unsaved ones from its segment.
///
/// Each record has a position in the run, which only grows, and every record states it. So one
/// number says where to continue, whatever was rotated, saved or removed since.
final class RunReader {
  let run: LogRun
  let boot: [UInt8]
  let startedAtNs: UInt64
  /// Start of the first run in its boot, which sorts runs of different boots.
  var bootBeganNs: UInt64 = 0
  private let name: RunName
  private let nonce: UInt64
  private var content: LogDirectories.Content
  private var current: CurrentFile?
  private var segment: (file: ReadableFile, header: RunHeader)?
  /// Position of the next record.
  private var position: UInt64 = 0
  /// The number that the next line has if none is missing. 0 before the first line of a run whose
  /// beginning is gone.
  private var number: UInt64
  /// The bytes that were read ahead, and what is in them.
  private var chunk: LogChunk
  private var items: [Item] = []
  private var cursor = 0
  /// The entries' share of the budget, and where to continue if they are given back.
  private var heldBytes = 0
  private var mark = Mark(position: 0, number: 0)
  private let budget: Budget
  /// Whether a dead run's segment was read to its end: it cannot grow.
  private var isSegmentRead = false

  /// What comes next in a run.
  enum Item {
    /// A line, by the offset of its record in the chunk.
    case line(start: Int)
    case missing(count: UInt64)
  }

  private struct Mark {
    var position: UInt64
    var number: UInt64
  }

  /// The memory that all runs of one reader share for lines read ahead. Once it is used up, as by
  /// very many runs, each run reads one line at a time, and reads it again when its turn comes.
  final class Budget {
    fileprivate var heldBytes = 0
    private static let limit = 32 << 20
    var isSpent: Bool { heldBytes > Self.limit }
  }

  /// The file being read. It is opened anew for each chunk, because there may be more runs than a
  /// process may have open files.
  private struct CurrentFile {
    let index: Int
    let header: RunHeader
  }

  /// Bytes read at once; more than the largest record.
  private var chunkBytes: Int { budget.isSpent ? 2 * Int(LG_RECORD_LIMIT) : 1 << 18 }

  /// - Returns: nil if no file of the run has a valid header.
  init?(
    _ key: LogDirectories.Key, _ content: LogDirectories.Content,
    in directories: borrowing LogDirectories, _ group: AppGroup, _ budget: Budget
  ) {
    name = key.run
    self.budget = budget
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
    chunk = LogChunk([], of: run)
  }

  deinit { budget.heldBytes -= heldBytes }

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

  /// Updates the list of the run's files.
  func update(_ content: LogDirectories.Content) { self.content = content }

  /// Whether the run was read to its end and cannot grow.
  func isOver(in directories: borrowing LogDirectories) -> Bool {
    !content.hasSegment && (try? next(in: directories)) == nil
  }

  /// The next item, without consuming it; nil if none is available.
  func next(in directories: borrowing LogDirectories) throws(SystemError) -> Item? {
    while cursor == items.count {
      release()
      if try readFile(in: directories) { continue }
      if try readSegment() { continue }
      // Lines saved since the file was read may be gone from the segment.
      if try !readFile(in: directories) { return nil }
    }
    return items[cursor]
  }

  /// The monotonic time of a line.
  func time(ofLineAt start: Int) -> UInt64 { LogRecord(chunk, at: start).monotonicNs }

  /// Consumes the item that `next` returned.
  func take() -> LogEntry {
    let item = items[cursor]
    switch item {
    case .line(let start):
      cursor += 1
      return .line(LogRecord(chunk, at: start))
    case .missing(let count):
      if cursor == 0 {
        mark.number += count
        items.removeFirst()
      } else {
        cursor += 1
      }
      return .missing(count: count, run: run)
    }
  }

  /// Gives back the memory of lines read ahead: they are read again when their turn comes.
  func forget() {
    guard cursor == 0, !items.isEmpty else { return }
    position = mark.position
    number = mark.number
    release()
  }

  private func release() {
    chunk = LogChunk([], of: run)
    items.removeAll(keepingCapacity: !budget.isSpent)
    cursor = 0
    budget.heldBytes -= heldBytes
    heldBytes = 0
  }

  // MARK: Files

  /// - Returns: whether entries were read.
  private func readFile(in directories: borrowing LogDirectories) throws(SystemError) -> Bool {
    if current == nil, !findNextFile(in: directories) { return false }
    while let header = current?.header, let index = current?.index {
      let offset = header.recordsAt + Int(position - header.position)
      let count = chunkBytes
      var bytes: [UInt8] = []
      // A file that was removed since, or exceeds the maximum length, is at its end.
      if let file = open(index, in: directories), let data = file.dataOffset(from: offset),
        data < LogOptions.largestFileBytes
      {
        // Holes are skipped, so a file of hostile length costs readers nothing.
        position += UInt64((data - offset) & ~(Int(LG_ALIGNMENT) - 1))
        bytes = try file.bytes(
          at: header.recordsAt + Int(position - header.position), atMost: count)
      }
      let scanner = RecordScanner(bytes: bytes, nonce: nonce, position: position)
      let search = scanner.firstRecord(from: 0)
      if let found = search.found {
        take(scanner, from: found, isWhole: true)
        return true
      }
      if bytes.count == count {
        position += UInt64(search.end)
      } else if !findNextFile(in: directories) {
        return false
      }
    }
    return false
  }

  /// Takes the available records, beginning with `first`.
  /// - Parameter isWhole: whether to skip broken or unfinished records; false if a thread may still
  ///   be writing them.
  private func take(_ scanner: RecordScanner, from first: RecordScanner.Found, isWhole: Bool) {
    mark = Mark(position: scanner.position + UInt64(first.start), number: number)
    chunk = LogChunk(scanner.bytes, of: run)
    heldBytes = scanner.bytes.count
    var next: RecordScanner.Found? = first
    while let found = next {
      if scanner.isLine(found) {
        let sequence = scanner.word64(found.start + 16)
        if number > 0, sequence > number {
          items.append(.missing(count: sequence - number))
        }
        number = sequence &+ 1
        items.append(.line(start: found.start))
      }
      let end = found.start + found.paddedBytes
      position = scanner.position + UInt64(end)
      if budget.isSpent, !items.isEmpty { break }
      next = isWhole ? scanner.firstRecord(from: end).found : scanner.record(at: end)
    }
    budget.heldBytes += heldBytes
  }

  /// Moves on to the next file.
  private func findNextFile(in directories: borrowing LogDirectories) -> Bool {
    // Binary search, because there may be very many files.
    var low = 0
    var high = content.files.count
    while low < high {
      let middle = (low + high) / 2
      if content.files[middle] > current?.index ?? 0 { high = middle } else { low = middle + 1 }
    }
    for index in content.files[low...] {
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
    let near = try RecordScanner(of: file, header, from: position, count: chunkBytes)
    if let found = near.record(at: 0) {
      take(near, from: found, isWhole: false)
      return true
    }
    // In a live run, nothing follows a record that a thread is still writing. In a dead run,
    // records may follow the one that the process was writing.
    if isLive || isSegmentRead { return false }
    if try takeNext(of: file, header, from: position, upTo: position + UInt64(header.capacity)) {
      return true
    }
    // If files from this position on were removed, the segment has overwritten their lines too.
    if let oldest = try RecordScanner.oldestPosition(in: file, header, from: position) {
      // As for a run whose first files are gone, whose beginning is not counted as missing.
      if position == 0, oldest > 0 { number = 0 }
      let end = oldest + UInt64(header.capacity)
      if try takeNext(of: file, header, from: oldest, upTo: end) { return true }
    }
    isSegmentRead = true
    return false
  }

  /// Takes the next whole records of a dead run's segment between two positions.
  private func takeNext(
    of file: ReadableFile, _ header: RunHeader, from start: UInt64, upTo end: UInt64
  ) throws(SystemError) -> Bool {
    let capacity = UInt64(header.capacity)
    var next = start
    while next < end {
      let wrapped = next & (capacity - 1)
      let offset = header.recordsAt + Int(wrapped)
      // Holes are skipped, as in a file. After the last data, continue at the segment's start.
      let data = file.dataOffset(from: offset) ?? .max
      guard data - header.recordsAt < header.capacity else {
        next += capacity - wrapped
        continue
      }
      next += UInt64((data - offset) & ~(Int(LG_ALIGNMENT) - 1))
      if next >= end { return false }
      let scanner = try RecordScanner(
        of: file, header, from: next, count: min(chunkBytes, Int(end - next)))
      let search = scanner.firstRecord(from: 0)
      if let found = search.found {
        take(scanner, from: found, isWhole: true)
        return true
      }
      // The rest is not a record: it is the end of the segment, or of the readable range.
      next += UInt64(max(search.end, Int(LG_ALIGNMENT)))
    }
    return false
  }
}
