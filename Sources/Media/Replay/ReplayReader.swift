import FrameBus
import Platform

/// Why a replay cannot be saved.
package enum ReplayError: Error, Hashable, Sendable, CustomStringConvertible {
  case missing(StreamName)
  case noCrashed(StreamName)
  case malformed(path: String)
  case newer(path: String)
  /// No complete picture that begins a sequence, and no sound.
  case empty(path: String)
  case system(SystemError)

  package var description: String {
    switch self {
    case .missing(let stream):
      "there is no replay of “\(stream)”; start one with `framebus upload replay:60s`, or see"
        + " `framebus replay status`"
    case .noCrashed(let stream):
      "no crashed uploader left a replay of “\(stream)”; see `framebus replay status`"
    case .malformed(let path):
      "\(path.plain) is not a replay: its head is damaged; remove it with `framebus replay remove`"
    case .newer(let path): "\(path.plain) was written by a newer FrameBus; update this one"
    case .empty(let path): "\(path.plain) has no complete picture yet; try again in a second"
    case .system(let error): error.explained
    }
  }
}

/// Reads a replay file, while its writer lives or after it has died.
package struct ReplayReader: Sendable {
  /// Times further from the newest one are not those of one upload.
  private static let longestSpanNs: UInt64 = 7_200_000_000_000

  package let path: String
  /// Whether its writer lives.
  package let isLive: Bool
  private let file: ReplayBytes
  private let head: ReplayHead
  /// Without gaps, up to the newest one; by sequence number.
  private let entries: [ReplayEntry]

  /// The length that the user requested.
  package var lengthNs: UInt64 { head.lengthNs }
  package var processID: Int32 { head.processID }
  package var fileBytes: Int { head.fileBytes }
  /// From the oldest key frame, or the oldest sound, to the newest unit.
  package var heldNs: UInt64 {
    guard let first = starts.first else { return 0 }
    return endNs - min(endNs, first.ptsNs)
  }

  /// Opens the present replay, or else the one that a crashed uploader left to its successor.
  /// - Parameter isCrashed: whether to skip that of an uploader that lives.
  package static func open(
    _ stream: StreamName, in directoryPath: String, isCrashed: Bool = false
  ) throws(ReplayError) -> ReplayReader {
    for wasCrashed in [false, true] {
      let name = ReplayFile.name(of: stream, isCrashed: wasCrashed)
      guard let file = try file(name, in: directoryPath) else { continue }
      if isCrashed, file.isLocked { continue }
      return try ReplayReader(file)
    }
    throw isCrashed ? .noCrashed(stream) : .missing(stream)
  }

  private static func file(
    _ name: String, in directoryPath: String
  ) throws(ReplayError) -> ReadableFile? {
    do throws(SystemError) {
      return try ReadableFile(name, in: Directory(path: directoryPath))
    } catch {
      if error.isMissing { return nil }
      throw .system(error)
    }
  }

  package init(_ file: ReadableFile) throws(ReplayError) {
    try self.init(
      ReplayBytes(byteCount: file.byteCount) { (offset, count) throws(SystemError) in
        try file.bytes(at: offset, count: count)
      }, path: file.path, isLive: file.isLocked)
  }

  /// Reads a replay in memory. The bytes are untrusted.
  package init(parsing bytes: [UInt8]) throws(ReplayError) {
    try self.init(
      ReplayBytes(byteCount: bytes.count) { (offset, count) throws(SystemError) in
        let start = min(offset, bytes.count)
        return Array(bytes[start..<min(start + count, bytes.count)])
      }, path: "memory", isLive: false)
  }

  private init(_ file: ReplayBytes, path: String, isLive: Bool) throws(ReplayError) {
    self.path = path
    self.isLive = isLive
    self.file = file
    let block = try file.read(0, ReplayHead.blockBytes)
    do throws(FormatError) {
      head = try ReplayHead(block, fileBytes: file.byteCount)
    } catch {
      throw error == .newer ? .newer(path: path) : .malformed(path: path)
    }
    entries = Self.run(
      in: try file.read(ReplayHead.blockBytes, head.entryCount * ReplayEntry.byteCount), head)
  }

  // MARK: Index

  /// The entries without a gap up to the newest one, whose bytes nothing newer has overwritten.
  private static func run(in index: [UInt8], _ head: ReplayHead) -> [ReplayEntry] {
    let rows = (0..<head.entryCount).map { row in
      let start = row * ReplayEntry.byteCount
      guard start + ReplayEntry.byteCount <= index.count else { return nil as ReplayEntry? }
      return try? ReplayEntry(
        index[start..<start + ReplayEntry.byteCount], row: row, of: head)
    }
    guard let newest = rows.compactMap(\.self).max(by: { $0.sequence < $1.sequence }) else {
      return []
    }
    var run = [newest]
    var hasWrapped = false
    while run.count < head.entryCount, let next = run.last, next.sequence > 1,
      let entry = rows[Int((next.sequence - 1) % UInt64(head.entryCount))],
      entry.sequence == next.sequence - 1,
      Swift.max(entry.ptsNs, newest.ptsNs) - Swift.min(entry.ptsNs, newest.ptsNs) < longestSpanNs
    {
      if entry.offset + entry.length > next.offset {
        if hasWrapped || entry.offset < next.offset { break }
        hasWrapped = true
      }
      if hasWrapped, entry.offset < newest.offset + newest.length { break }
      run.append(entry)
    }
    return run.reversed()
  }

  private var endNs: UInt64 {
    entries.map { $0.ptsNs + $0.durationNs }.max() ?? 0
  }

  /// The entries with which a saved file can begin.
  private var starts: [ReplayEntry] {
    let pictures = entries.filter { $0.kind == .picture }
    return pictures.isEmpty ? entries : pictures.filter(\.isKey)
  }

  // MARK: Units

  /// The newest units, from the key frame nearest to the requested time on. They take as much
  /// memory as the file has at most.
  /// - Parameter lastNs: nil for the length that the upload was started with.
  package func units(lastNs: UInt64? = nil) throws(ReplayError) -> [ReplayUnit] {
    let lastNs = lastNs ?? head.lengthNs
    let wantedNs = endNs - min(endNs, lastNs)
    func distance(_ entry: ReplayEntry) -> UInt64 {
      max(entry.ptsNs, wantedNs) - min(entry.ptsNs, wantedNs)
    }
    guard let start = starts.min(by: { distance($0) < distance($1) }) else {
      throw .empty(path: path)
    }
    let units = try complete(
      entries.filter {
        $0.kind == start.kind ? $0.sequence >= start.sequence : $0.ptsNs >= start.ptsNs
      })
    guard let first = units.first(where: { $0.kind == start.kind }) else {
      throw .empty(path: path)
    }
    return units.filter { $0.kind == first.kind || $0.ptsNs >= first.ptsNs }
  }

  /// Reads each unit once. A live writer may overwrite the oldest ones meanwhile: then those after
  /// the gap remain, from the next key frame on.
  private func complete(_ chosen: [ReplayEntry]) throws(ReplayError) -> [ReplayUnit] {
    var units: [ReplayUnit] = []
    var isWaitingForKey = true
    for entry in chosen {
      let bytes = try file.read(head.dataOffset + entry.offset, entry.length)
      guard bytes.count == entry.length, checksum(of: bytes[...]) == entry.payloadChecksum else {
        units = []
        isWaitingForKey = true
        continue
      }
      if entry.kind == .picture {
        if isWaitingForKey, !entry.isKey { continue }
        isWaitingForKey = false
      }
      units.append(
        ReplayUnit(
          entry.kind, isKey: entry.isKey, ptsNs: entry.ptsNs, dtsNs: entry.dtsNs,
          durationNs: entry.durationNs, bytes: bytes))
    }
    return units
  }
}

/// The bytes of a replay, in memory or in a file.
private struct ReplayBytes: Sendable {
  let byteCount: Int
  private let source: @Sendable (_ offset: Int, _ count: Int) throws(SystemError) -> [UInt8]

  init(
    byteCount: Int,
    _ source: @escaping @Sendable (_ offset: Int, _ count: Int) throws(SystemError) -> [UInt8]
  ) {
    self.byteCount = byteCount
    self.source = source
  }

  /// Reads `count` bytes, or fewer at the end of the file.
  func read(_ offset: Int, _ count: Int) throws(ReplayError) -> [UInt8] {
    do throws(SystemError) { return try source(offset, count) } catch { throw .system(error) }
  }
}
