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
  /// What the entries take of the budget, and where reading goes on if they are given back.
  private var heldBytes = 0
  private var mark = Mark(position: 0, number: 0)
  private let budget: Budget
  /// Whether all of a dead run's segment was read: nothing can come of it any more.
  private var isSegmentRead = false

  private struct Mark {
    var position: UInt64
    var number: UInt64
  }

  /// The memory that the runs of one reader share for lines that were read ahead. Where it is
  /// spent, as by very many runs at once, each run reads a line at a time, and again at its turn.
  final class Budget {
    fileprivate var heldBytes = 0
    private static let limit = 32 << 20
    var isSpent: Bool { heldBytes > Self.limit }
  }

  /// Which file is being read. It is opened for each chunk: there may be more runs than a process
  /// may have files open.
  private struct CurrentFile {
    let index: Int
    let header: RunHeader
  }

  /// Bytes read at once; more than a record has.
  private var chunkBytes: Int { budget.isSpent ? 2 * Int(LG_RECORD_LIMIT) : 1 << 18 }

  /// - Returns: nil if none of its files has a header.
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

  /// What there is now.
  func update(_ content: LogDirectories.Content) { self.content = content }

  /// Whether nothing more can come.
  func isOver(in directories: borrowing LogDirectories) -> Bool {
    !content.hasSegment && (try? next(in: directories)) == nil
  }

  /// The next entry, which stays the next; nil if there is none now.
  func next(in directories: borrowing LogDirectories) throws(SystemError) -> LogEntry? {
    while cursor == entries.count {
      entries = []
      cursor = 0
      budget.heldBytes -= heldBytes
      heldBytes = 0
      if try readFile(in: directories) { continue }
      if try readSegment() { continue }
      // What was saved since the file was looked at may be gone from the segment.
      if try !readFile(in: directories) { return nil }
    }
    return entries[cursor]
  }

  func drop() {
    if cursor == 0, case .missing(let count, _) = entries[0] {
      mark.number += count
      entries.removeFirst()
    } else {
      cursor += 1
    }
  }

  /// Gives back the memory of lines that were read ahead: they are read again at their turn.
  func forget() {
    guard cursor == 0, !entries.isEmpty else { return }
    position = mark.position
    number = mark.number
    entries = []
    budget.heldBytes -= heldBytes
    heldBytes = 0
  }

  // MARK: Files

  /// - Returns: whether it got on.
  private func readFile(in directories: borrowing LogDirectories) throws(SystemError) -> Bool {
    if current == nil, !findNextFile(in: directories) { return false }
    while let header = current?.header, let index = current?.index {
      let offset = header.recordsAt + Int(position - header.position)
      let count = chunkBytes
      var bytes: [UInt8] = []
      // A file that was removed meanwhile, or is longer than any, has no more.
      if let file = open(index, in: directories), let data = file.dataOffset(from: offset),
        data < LogOptions.largestFileBytes
      {
        // Holes are passed: a file's length costs nobody but who fills it.
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

  /// Takes the records there are, from one on.
  /// - Parameter isWhole: whether what lies between records was broken, or never finished, and is
  ///   passed; a thread may still be writing it otherwise.
  private func take(_ scanner: RecordScanner, from first: RecordScanner.Found, isWhole: Bool) {
    mark = Mark(position: scanner.position + UInt64(first.start), number: number)
    var next: RecordScanner.Found? = first
    while let found = next {
      if !found.isFiller, let record = scanner.line(of: found, by: run) {
        if number > 0, record.sequence > number {
          entries.append(.missing(count: record.sequence - number, run: run))
        }
        number = record.sequence &+ 1
        entries.append(.line(record))
        heldBytes += found.paddedBytes
      }
      let end = found.start + found.paddedBytes
      position = scanner.position + UInt64(end)
      if budget.isSpent, !entries.isEmpty { break }
      next = isWhole ? scanner.firstRecord(from: end).found : scanner.record(at: end)
    }
    budget.heldBytes += heldBytes
  }

  /// Goes to the file behind the current one.
  private func findNextFile(in directories: borrowing LogDirectories) -> Bool {
    // There may be very many: those that were read are not counted through again.
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
    // Behind a record that a thread is still writing there is nothing yet; behind one that its
    // process died in, there may be.
    if isLive || isSegmentRead { return false }
    if try takeNext(of: file, header, from: position, upTo: position + UInt64(header.capacity)) {
      return true
    }
    // Where files with lines from here on were removed, those were overwritten here too.
    if let oldest = try RecordScanner.oldestPosition(in: file, header, from: position) {
      // As where a run's first files are gone: it is not read from its beginning.
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
      let place = next & (capacity - 1)
      let offset = header.recordsAt + Int(place)
      // As of a file. Behind the last data the segment begins again.
      let data = file.dataOffset(from: offset) ?? .max
      guard data - header.recordsAt < header.capacity else {
        next += capacity - place
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
      // What is left over is no record: the segment ends there, or what there is to read does.
      next += UInt64(max(search.end, Int(LG_ALIGNMENT)))
    }
    return false
  }
}
