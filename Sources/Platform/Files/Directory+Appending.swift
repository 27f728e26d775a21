import CLinuxShims
import Glibc

extension Directory {
  /// Appends bytes to a log of the calling user in one write, so that entries of several processes
  /// never mix. A log that would exceed the limit is first renamed to `NAME.old`, replacing the
  /// previous one. Never blocks on a FIFO, never follows a link.
  /// - Throws: `EPERM` unless the file is a regular file that only the calling user can access.
  package borrowing func append(
    _ bytes: [UInt8], toLog name: String, limit: Int
  ) throws(SystemError) {
    let path = path(of: name)
    let file = try openLog(name, for: bytes.count, limit: limit)
    // SAFETY: the kernel reads exactly the array's bytes, during the call only.
    let count = unsafe bytes.withUnsafeBytes {
      unsafe write(file.number, $0.baseAddress, $0.count)
    }
    guard count == bytes.count else {
      throw count < 0
        ? .last("write", path: path)
        : SystemError(
          code: ENOSPC, operation: "write", path: path)
    }
  }

  /// Opens a log that has room, and a name when it is checked.
  private borrowing func openLog(
    _ name: String, for byteCount: Int, limit: Int
  ) throws(SystemError) -> Descriptor {
    let path = path(of: name)
    let flags = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
    for _ in 1...Self.openAttempts {
      let file = try open(name, flags: flags, mode: 0o644)
      let status = try fileStatus(of: file, path: path)
      guard status.kind == .file, status.ownerID == currentUserID(), status.linkCount <= 1 else {
        throw SystemError(code: EPERM, operation: "append", path: path)
      }
      // Two processes replaced it meanwhile.
      if status.linkCount == 0 { continue }
      let isFull = status.byteCount > 0 && status.byteCount + byteCount > limit
      // Of all who find the log full, the one that has the lock renames it, and nobody the next.
      guard isFull, (try? file.lockByte(0)) != false,
        try self.status(of: name)?.inode == status.inode
      else { return file }
      try rename(name, to: name + ".old", replacing: true)
    }
    throw .busy(path: path)
  }

  private static let openAttempts = 100
}
