import CLinuxShims
import Glibc

/// Why a small file was not read. Other users who can write in its directory may have replaced it.
package enum ContentsError: Error, Hashable, Sendable {
  case system(SystemError)
  case notFile(path: String, kind: FileStatus.Kind)
  case tooLarge(path: String, byteCount: Int, limit: Int)
}

extension ContentsError: SystemFailure {
  package init(_ error: SystemError) { self = .system(error) }
}

extension ContentsError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .system(let error): error.explained
    case .notFile(let path, let kind):
      "\(path) is a \(kind.rawValue), not a regular file; name a file"
    case .tooLarge(let path, let byteCount, let limit):
      "\(path) has \(byteCount) bytes, above the limit of \(limit); name another file"
    }
  }
}

extension Directory {
  /// Reads a whole small file. Never blocks on a FIFO or device, never follows a link, and never
  /// reads more than `limit` bytes.
  /// - Returns: the bytes, and the status of the file that was read.
  package borrowing func readFile(
    _ name: String, limit: Int
  ) throws(ContentsError) -> (bytes: [UInt8], status: FileStatus) {
    let path = path(of: name)
    let file = try openFile(name, limit: limit)
    let bytes = try ContentsError.attempt(readAtMost(limit + 1, from: file.descriptor, path: path))
    if bytes.count > limit { throw .tooLarge(path: path, byteCount: bytes.count, limit: limit) }
    return (bytes, file.status)
  }

  /// Like `readFile(_:limit:)`, but reads directly into the caller's memory, so that secrets are
  /// not copied elsewhere.
  package borrowing func readFile(
    _ name: String, into span: inout MutableRawSpan
  ) throws(ContentsError) -> (byteCount: Int, status: FileStatus) {
    let path = path(of: name)
    let limit = span.byteCount
    let file = try openFile(name, limit: limit)
    do {
      return (try readFully(into: &span, from: file.descriptor.number, path: path), file.status)
    } catch {
      throw .system(error)
    }
  }

  /// Opens a file that is read in parts, with the same checks.
  package borrowing func readableFile(
    _ name: String, limit: Int
  ) throws(ContentsError) -> (file: ReadableFile, status: FileStatus) {
    let opened = try openFile(name, limit: limit)
    let status = opened.status
    return (
      ReadableFile(opened.taken(), path: path(of: name), byteCount: status.byteCount), status
    )
  }

  /// Opens a regular file of at most `limit` bytes for reading.
  private borrowing func openFile(
    _ name: String, limit: Int
  ) throws(ContentsError) -> OpenedFile {
    let path = path(of: name)
    let file = try ContentsError.attempt { () throws(SystemError) in
      // Checked before opening, because opening a device can have side effects.
      let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
      let isFile = try status(of: name).map { $0.kind == .file } ?? true
      return try open(name, flags: isFile ? flags : flags | LINUX_O_PATH)
    }
    let found = try ContentsError.attempt(fileStatus(of: file, path: path))
    if found.kind != .file { throw .notFile(path: path, kind: found.kind) }
    if found.byteCount > limit {
      throw .tooLarge(path: path, byteCount: found.byteCount, limit: limit)
    }
    return OpenedFile(descriptor: file, status: found)
  }

  /// Replaces a file atomically: readers see the old bytes or the new ones, never a part, even
  /// after a power cut. Readers of the replaced file keep reading its bytes.
  /// - Parameters:
  ///   - mode: permission bits, whatever the umask.
  ///   - ownerID: the new owner; nil for the calling user.
  ///   - access: the permissions of further users.
  ///   - isReplacing: whether to replace an existing file; otherwise `EEXIST`.
  ///   - isSynced: false for one of several files, which do not survive a power cut until the
  ///     caller calls ``sync(files:)`` for all of them.
  /// - Throws: an error with ``SystemError/followsChange`` if the file is in place, but may not
  ///   survive a power cut; any other error leaves the old file.
  package borrowing func replaceFile(
    _ name: String, with bytes: [UInt8], mode: UInt32, ownerID: UInt32? = nil,
    access: AccessList? = nil, isReplacing: Bool = true, isSynced: Bool = true
  ) throws(SystemError) {
    // SAFETY: bytes have no padding.
    let span = unsafe bytes.span.bytes
    try replaceFile(
      name, with: span, mode: mode, ownerID: ownerID, access: access, isReplacing: isReplacing,
      isSynced: isSynced)
  }

  /// As above, from borrowed memory.
  package borrowing func replaceFile(
    _ name: String, with bytes: RawSpan, mode: UInt32, ownerID: UInt32? = nil,
    access: AccessList? = nil, isReplacing: Bool = true, isSynced: Bool = true
  ) throws(SystemError) {
    let temporary = temporaryName(prefix: ".new-\(name)-")
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    let file = try open(temporary, flags: flags, mode: mode)
    do throws(SystemError) {
      let path = path(of: temporary)
      try writeFully(bytes, to: file.number, path: self.path(of: name))
      let number = file.number
      if let ownerID { try file.give(to: ownerID, path: path) }
      try file.widen(to: mode, path: path)
      if let access { try file.setAccess(access, .access, path: path) }
      if isSynced { _ = try retryingInterrupts("fsync", path: path) { fsync(number) } }
      try rename(temporary, to: name, replacing: isReplacing)
    } catch {
      try? removeFile(temporary)
      throw error
    }
    guard isSynced else { return }
    do throws(SystemError) { try sync() } catch { throw error.afterChange }
  }
}

private struct OpenedFile: ~Copyable {
  let descriptor: Descriptor
  let status: FileStatus

  consuming func taken() -> Descriptor { descriptor }
}

/// Reads until the span is full or the input ends.
/// - Returns: how many bytes were read.
package func readFully(
  into span: inout MutableRawSpan, from number: Int32, path: String? = nil
) throws(SystemError) -> Int {
  // SAFETY: the kernel writes at most what is left of the span.
  try unsafe span.withUnsafeMutableBytes { buffer throws(SystemError) in
    var filled = 0
    while filled < buffer.count {
      let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
      let count = unsafe read(number, rest.baseAddress, rest.count)
      if count == 0 { break }
      if count > 0 {
        filled += count
      } else if errno != EINTR {
        throw SystemError.last("read", path: path)
      }
    }
    return filled
  }
}

private func readAtMost(
  _ limit: Int, from file: borrowing Descriptor, path: String
) throws(SystemError) -> [UInt8] {
  var bytes: [UInt8] = []
  var chunk: [UInt8] = Array(repeating: 0, count: 16384)
  let number = file.number
  while bytes.count < limit {
    // SAFETY: the kernel writes at most the chunk's own length.
    let count = unsafe chunk.withUnsafeMutableBytes {
      unsafe read(number, $0.baseAddress, $0.count)
    }
    if count == 0 { break }
    if count > 0 {
      bytes += chunk[..<count]
    } else if errno != EINTR {
      throw .last("read", path: path)
    }
  }
  return bytes
}

extension Directory {
  /// Opens a file for operations that need only a descriptor, such as testing locks. Never blocks,
  /// never follows a link.
  package borrowing func openForInspection(_ name: String) throws(SystemError) -> Descriptor {
    try open(name, flags: O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
  }

  /// The same, read-only.
  package borrowing func openForReading(_ name: String) throws(SystemError) -> Descriptor {
    try open(name, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
  }

  /// A descriptor that only identifies the entry, of any kind (`O_PATH`).
  package borrowing func openNode(_ name: String) throws(SystemError) -> Descriptor {
    try open(name, flags: LINUX_O_PATH | O_NOFOLLOW | O_CLOEXEC)
  }

  /// Creates an empty file of this user; `EEXIST` if there is an entry of that name.
  package borrowing func makeEmptyFile(_ name: String) throws(SystemError) {
    _ = try createFile(name, mode: 0o600)
  }

  /// Creates an empty file for writing; `EEXIST` if there is an entry of that name, even a link.
  /// - Parameter mode: permission bits, of which the umask may take some away.
  package borrowing func createFile(
    _ name: String, mode: UInt32
  ) throws(SystemError) -> Descriptor {
    try open(name, flags: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode: mode)
  }

  /// Creates a file of `byteCount` zeros with allocated storage (`posix_fallocate(3)`), so that no
  /// later write through a mapping runs out of space.
  /// - Parameters:
  ///   - mode: permission bits; an inherited access control list, or else the umask, may take some
  ///     away.
  ///   - ownerID: the new owner; nil for the calling user.
  package borrowing func makeFile(
    _ name: String, byteCount: Int, mode: UInt32, ownerID: UInt32? = nil
  ) throws(SystemError) -> Descriptor {
    let path = path(of: name)
    let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    let file = try open(name, flags: flags, mode: mode)
    do throws(SystemError) {
      try requireAllowedSize(byteCount, "posix_fallocate", path: path)
      let code = posix_fallocate(file.number, 0, byteCount)
      if code != 0 { throw SystemError(code: code, operation: "posix_fallocate", path: path) }
      if let ownerID { try file.give(to: ownerID, path: path) }
    } catch {
      try? removeFile(name)
      throw error
    }
    return file
  }
}

extension Descriptor {
  /// Sets the file's size to `count`. New bytes are zeros without storage until written.
  package borrowing func setByteCount(_ count: Int) throws(SystemError) {
    let number = self.number
    try requireAllowedSize(count, "ftruncate")
    _ = try retryingInterrupts("ftruncate") { ftruncate(number, count) }
  }
}

/// Checked first, because a write beyond `RLIMIT_FSIZE` does not only fail: the kernel sends
/// SIGXFSZ, which ends the process, and a library must not change its process's signal handling.
func requireAllowedSize(
  _ byteCount: Int, _ operation: String, path: String? = nil
) throws(SystemError) {
  var limit = rlimit()
  let isKnown = unsafe getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0
  if isKnown, limit.rlim_cur < UInt64(byteCount) {
    throw SystemError(code: EFBIG, operation: operation, path: path)
  }
}
