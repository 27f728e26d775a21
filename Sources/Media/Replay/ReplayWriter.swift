import FrameBus
import Platform

/// Writes a stream's replay file. It has one writer, which holds a lock on it while it lives.
///
/// The file is written by pwrite(2) and not mapped: another program of the same user that truncates
/// it causes no SIGBUS. A unit's bytes are written before its row of the index, so a writer that
/// dies at any point leaves a file whose checksums say what is complete. Confined to one thread.
package final class ReplayWriter {
  private let directory: Directory
  private let name: String
  private let file: Descriptor
  private let inode: UInt64
  private let head: ReplayHead
  private var sequence: UInt64 = 0
  private var nextOffset = 0

  /// Creates the file. That of a crashed uploader is kept as the crashed one, instead of the one
  /// before.
  /// - Parameter bitsPerSecond: of the pictures.
  /// - Throws: `SystemError.isBusy` if another upload keeps a replay of the stream.
  package init(
    of stream: StreamName, in directoryPath: String, lengthNs: UInt64, bitsPerSecond: Int
  ) throws(SystemError) {
    directory = try Directory(path: directoryPath)
    name = ReplayFile.name(of: stream)
    head = ReplayHead(
      lengthNs: lengthNs, bitsPerSecond: bitsPerSecond, processID: currentProcessID())
    Self.sweep(directory)
    let temporary = temporaryName(prefix: Self.temporaryPrefix)
    // Members may read it, as they may subscribe to the stream.
    file = try directory.makeFile(temporary, byteCount: ReplayHead.blockBytes, mode: 0o640)
    do throws(SystemError) {
      inode = try fileStatus(of: file, path: name).inode
      try file.setByteCount(head.fileBytes)
      try file.write(head.bytes, at: 0, path: name)
      guard try file.lockByte(0) else { throw SystemError.busy(path: name) }
      try Self.requireFree(name, in: directory)
      if try directory.status(of: name) != nil {
        try directory.rename(
          name, to: ReplayFile.name(of: stream, isCrashed: true), replacing: true)
      }
      try directory.rename(temporary, to: name, replacing: false)
    } catch {
      try? directory.removeFile(temporary)
      throw error
    }
  }

  private static let temporaryPrefix = ".replay-"

  /// Removes files without a name that dead processes of this user left over a minute ago.
  private static func sweep(_ directory: borrowing Directory) {
    let limit = Int64(clamping: wallNowNs()) - 60_000_000_000
    for name in (try? directory.names(atMost: 10_000)) ?? [] where name.hasPrefix(temporaryPrefix) {
      let status = (try? directory.status(of: name)) ?? nil
      guard let status, status.ownerID == currentUserID(), status.changedAtNs < limit else {
        continue
      }
      try? directory.removeFile(name)
    }
  }

  /// Fails if another upload keeps a replay of the stream, or the directory is missing.
  package static func requireFree(
    _ stream: StreamName, in directoryPath: String
  ) throws(SystemError) {
    try requireFree(ReplayFile.name(of: stream), in: Directory(path: directoryPath))
  }

  private static func requireFree(
    _ name: String, in directory: borrowing Directory
  ) throws(SystemError) {
    guard let file = try? ReadableFile(name, in: directory) else { return }
    if file.isLocked { throw .busy(path: directory.path(of: name)) }
  }

  /// Appends a unit; the oldest ones are overwritten. One that would displace most of the others is
  /// left out: what follows then begins at the next key frame.
  package func append(_ unit: ReplayUnit) throws(SystemError) {
    sequence += 1
    let count = unit.bytes.count
    guard count > 0, count <= head.dataBytes / 4 else { return }
    if nextOffset + count > head.dataBytes { nextOffset = 0 }
    try file.write(unit.bytes, at: head.dataOffset + nextOffset, path: name)
    let row = Int(sequence % UInt64(head.entryCount))
    let entry = ReplayEntry(unit, sequence: sequence, offset: nextOffset)
    try file.write(
      entry.bytes, at: ReplayHead.blockBytes + row * ReplayEntry.byteCount, path: name)
    nextOffset += count
  }

  /// Removes the file: the upload has ended as its user wanted.
  package func remove() throws(SystemError) {
    if try directory.status(of: name)?.inode == inode { try directory.removeFile(name) }
  }
}
