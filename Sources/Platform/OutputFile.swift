import Glibc

/// A file that a foreign library will write by its path: what can be known and done beside it.
package struct OutputFile: Hashable, Sendable {
  package let path: String

  package init(_ path: String) { self.path = path }

  /// Fails as opening it for writing would, and leaves things as they were: nothing is truncated,
  /// and a file made by the attempt is removed.
  package func checkWritable() throws(SystemError) {
    let path = path
    // SAFETY: the kernel reads the path during the calls only.
    let made = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if made >= 0 {
      close(made)
      unsafe unlink(path)
      return
    }
    guard errno == EEXIST else { throw .last("open", path: path) }
    let number = try retryingInterrupts("open", path: path) {
      // Without O_NONBLOCK a named pipe that nobody reads would block here.
      unsafe open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK)
    }
    let file = Descriptor(owning: number)
    let status = try fileStatus(of: file, path: path)
    if status.kind != .file { throw SystemError(code: EINVAL, operation: "open", path: path) }
    if isLockedByAnother(file) { throw .busy(path: path) }
  }

  /// Keeps the file for who has the descriptor, making it if there is none: two that write one file
  /// would each ruin what the other wrote.
  /// - Throws: `SystemError.isBusy` if another program, or another part of this one, keeps it.
  package func lock() throws(SystemError) -> Descriptor {
    let path = path
    for _ in 1...Self.lockAttempts {
      let number = try retryingInterrupts("open", path: path) {
        // SAFETY: the kernel reads the path during the call only.
        unsafe open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0o666)
      }
      let file = Descriptor(owning: number)
      try file.lockForWriting(path: path)
      // A lock on a file that is no longer there excludes nobody.
      if try fileStatus(of: file, path: path).linkCount > 0 { return file }
    }
    throw .busy(path: path)
  }

  /// How often it may be removed while it is being locked.
  private static let lockAttempts = 100

  // SAFETY: the kernel reads the path during the call only.
  package var exists: Bool { unsafe access(path, F_OK) == 0 }

  /// Nil if there is no such file.
  package var byteCount: UInt64? {
    var status = stat()
    // SAFETY: the kernel reads the path and writes the structure during the call only.
    return unsafe stat(path, &status) == 0 ? UInt64(clamping: status.st_size) : nil
  }

  /// Bytes that this user may still write to the file system the file is on (`statvfs(3)`). For a
  /// file that does not exist, its directory is asked.
  package func freeBytes() throws(SystemError) -> UInt64 {
    var status = statvfs()
    // SAFETY: the kernel reads the path and writes the structure during the call only.
    guard unsafe statvfs(exists ? path : directory, &status) == 0 else {
      throw .last("statvfs", path: path)
    }
    return UInt64(status.f_bavail) &* UInt64(status.f_frsize)
  }

  /// The path of the directory that it is in, or would be.
  package var directory: String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// Its name in that directory.
  package var name: String {
    String(path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...])
  }

  /// Removes the file. A missing file is not an error.
  package func remove() throws(SystemError) {
    // SAFETY: the kernel reads the path during the call only.
    guard unsafe unlink(path) == 0 || errno == ENOENT else {
      throw .last("unlink", path: path)
    }
  }
}
