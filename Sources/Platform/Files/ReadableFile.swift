import CLinuxShims
import Glibc

/// A file that is read at explicit offsets: pread(2).
package final class ReadableFile: Sendable {
  package let path: String
  package let byteCount: Int
  private let descriptor: Descriptor

  /// - Throws: also if the path is not a regular file.
  package init(path: String) throws(SystemError) {
    // O_NONBLOCK: a FIFO without a writer would block here.
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

  /// Opens a regular file of a directory in which other users create entries. Follows no link.
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

  /// - Parameter descriptor: of a regular file that its caller has checked.
  init(_ descriptor: consuming Descriptor, path: String, byteCount: Int) {
    self.path = path
    self.byteCount = byteCount
    self.descriptor = descriptor
  }

  /// Its current status: it may have grown since it was opened.
  package func status() throws(SystemError) -> FileStatus {
    try fileStatus(of: descriptor, path: path)
  }

  /// Whether another open file description, in any process, holds a lock on the file.
  package var isLocked: Bool { isLockedByAnother(descriptor) }

  /// The next offset with data that is not in a hole (`SEEK_DATA`): the offset itself if the file
  /// system does not record holes. Nil if no data follows.
  package func dataOffset(from offset: Int) -> Int? {
    let found = lseek(descriptor.number, offset, LINUX_SEEK_DATA)
    if found >= 0 { return found }
    return errno == ENXIO ? nil : offset
  }

  /// Reads `count` bytes to the beginning of a span, or fewer at the end of the file.
  /// - Returns: the number of bytes read.
  package func read(
    _ count: Int, into span: inout MutableRawSpan, at offset: Int
  ) throws(SystemError) -> Int {
    try descriptor.read(count, into: &span, at: offset, path: path)
  }

  /// Reads `count` bytes, or fewer at the end that the file had when it was opened.
  package func bytes(at offset: Int, count: Int) throws(SystemError) -> [UInt8] {
    try bytes(at: offset, atMost: max(0, min(count, byteCount - offset)))
  }

  /// Reads `count` bytes, or fewer at the file's current end.
  package func bytes(at offset: Int, atMost count: Int) throws(SystemError) -> [UInt8] {
    try descriptor.bytes(at: offset, count: count, path: path)
  }
}
