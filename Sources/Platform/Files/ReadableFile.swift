import CLinuxShims
import Glibc

/// A file that is read at explicit places: pread(2).
package final class ReadableFile: Sendable {
  package let path: String
  package let byteCount: Int
  private let descriptor: Descriptor

  /// - Throws: also where there is something other than a file.
  package init(path: String) throws(SystemError) {
    // O_NONBLOCK: a named pipe that nobody writes would block here.
    let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK
    // SAFETY: the kernel reads the path during the call only.
    let descriptor = Descriptor(
      owning: try retryingInterrupts("open", path: path) { unsafe open(path, flags) })
    let status = try fileStatus(of: descriptor, path: path)
    guard status.kind == .file else {
      let code = status.kind == .directory ? EISDIR : EINVAL
      throw SystemError(code: code, operation: "open", path: path)
    }
    self.path = path
    byteCount = status.byteCount
    self.descriptor = descriptor
  }

  /// Opens a plain file of a directory in which others make entries, following no link.
  package init(_ name: String, in directory: borrowing Directory) throws(SystemError) {
    path = directory.path(of: name)
    let descriptor = try directory.openForReading(name)
    let status = try fileStatus(of: descriptor, path: path)
    guard status.kind == .file else {
      throw SystemError(code: EINVAL, operation: "open", path: path)
    }
    byteCount = status.byteCount
    self.descriptor = descriptor
  }

  /// What is true of it now: it may have grown since it was opened.
  package func status() throws(SystemError) -> FileStatus {
    try fileStatus(of: descriptor, path: path)
  }

  /// Whether another opening of the file, in whichever process, holds a lock on it.
  package var isLocked: Bool { isLockedByAnother(descriptor) }

  /// Where the next bytes lie that are not a hole, from a place on (`SEEK_DATA`): the place itself
  /// where the file system keeps no account of holes. Nil if there are none.
  package func dataOffset(from offset: Int) -> Int? {
    let found = lseek(descriptor.number, offset, LINUX_SEEK_DATA)
    if found >= 0 { return found }
    return errno == ENXIO ? nil : offset
  }

  /// Reads so many bytes to the beginning of a span, or fewer where the file ends.
  /// - Returns: how many bytes were read.
  package func read(
    _ count: Int, into span: inout MutableRawSpan, at offset: Int
  ) throws(SystemError) -> Int {
    try descriptor.read(count, into: &span, at: offset, path: path)
  }

  /// Reads so many bytes, or fewer where the file ended when it was opened.
  package func bytes(at offset: Int, count: Int) throws(SystemError) -> [UInt8] {
    try bytes(at: offset, atMost: max(0, min(count, byteCount - offset)))
  }

  /// Reads so many bytes, or fewer where the file ends now.
  package func bytes(at offset: Int, atMost count: Int) throws(SystemError) -> [UInt8] {
    try descriptor.bytes(at: offset, count: count, path: path)
  }
}
