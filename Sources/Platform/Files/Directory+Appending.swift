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
    if let found = try status(of: name), found.kind == .file, found.ownerID == currentUserID(),
      found.byteCount + bytes.count > limit
    {
      try rename(name, to: name + ".old", replacing: true)
    }
    let flags = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
    let file = try open(name, flags: flags, mode: 0o644)
    let status = try fileStatus(of: file, path: path)
    guard status.kind == .file, status.ownerID == currentUserID(), status.linkCount == 1 else {
      throw SystemError(code: EPERM, operation: "append", path: path)
    }
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
}
