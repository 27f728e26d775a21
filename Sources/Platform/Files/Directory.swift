import CLinuxShims
import Glibc

/// An open directory. Its entries are reached through its descriptor and a single name, never by a
/// path, so that nobody can replace a parent during a call. Symbolic links are never followed.
package struct Directory: ~Copyable, Sendable {
  package let descriptor: Descriptor
  /// Its path when it was opened, only for messages.
  package let path: String

  package init(owning descriptor: consuming Descriptor, path: String) {
    self.descriptor = descriptor
    self.path = path
  }

  /// Opens a path as the kernel resolves it, following links. For the root, and for paths checked
  /// by ``openTrusted(path:trusting:)``.
  package init(path: String) throws(SystemError) {
    // SAFETY: the kernel reads the path during the call only.
    let number = try retryingInterrupts("open", path: path) {
      unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    }
    self.init(owning: Descriptor(owning: number), path: path)
  }

  /// Opens a directory for searching only (`O_PATH`), resolving the path as above. A confined
  /// process may search its root directory, but not list it.
  package static func passage(_ path: String) throws(SystemError) -> Directory {
    // SAFETY: the kernel reads the path during the call only.
    let number = try retryingInterrupts("open", path: path) {
      unsafe Glibc.open(path, LINUX_O_PATH | O_DIRECTORY | O_CLOEXEC)
    }
    return Directory(owning: Descriptor(owning: number), path: path)
  }

  package borrowing func path(of name: String) -> String {
    path == "/" ? "/\(name)" : "\(path)/\(name)"
  }

  /// A path of an entry through this open directory's descriptor, which is short and stays valid if
  /// the directory moves: for calls without a directory argument, such as `connect(2)`.
  package borrowing func reachablePath(of name: String) -> String {
    "/proc/self/fd/\(descriptor.number)/\(name)"
  }

  /// Opens a directory in this one. A symbolic link is refused with `ENOTDIR`.
  package borrowing func openDirectory(_ name: String) throws(SystemError) -> Directory {
    let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
    return Directory(owning: try open(name, flags: flags), path: path(of: name))
  }

  /// Opens a directory for searching only (`O_PATH`); it need not be listable.
  package borrowing func openPassage(_ name: String) throws(SystemError) -> Directory {
    let flags = LINUX_O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
    return Directory(owning: try open(name, flags: flags), path: path(of: name))
  }

  package borrowing func open(
    _ name: String, flags: Int32, mode: UInt32 = 0
  ) throws(SystemError) -> Descriptor {
    let base = descriptor.number
    // SAFETY: the kernel reads the name during the call only.
    let number = try retryingInterrupts("openat", path: path(of: name)) {
      unsafe openat(base, name, flags, mode_t(mode))
    }
    return Descriptor(owning: number)
  }

  package borrowing func status() throws(SystemError) -> FileStatus {
    try fileStatus(of: descriptor, path: path)
  }

  /// The status of an entry, without following links; nil if it is missing.
  package borrowing func status(of name: String) throws(SystemError) -> FileStatus? {
    var result = stat()
    // SAFETY: the kernel reads the name and writes the structure during the call only.
    if unsafe fstatat(descriptor.number, name, &result, AT_SYMLINK_NOFOLLOW) == 0 {
      return FileStatus(result)
    }
    if errno == ENOENT { return nil }
    throw .last("fstatat", path: path(of: name))
  }

  /// The target of a symbolic link.
  package borrowing func linkText(of name: String) throws(SystemError) -> String {
    // SAFETY: the kernel writes at most the given capacity and says how much.
    let base = descriptor.number
    return try unsafe textFromKernel("readlinkat", path: path(of: name), capacity: Int(PATH_MAX)) {
      guard let start = $0.baseAddress else { return 0 }
      return unsafe readlinkat(base, name, start, $0.count)
    }
  }

  /// The names of the entries, sorted; `.` and `..` left out.
  /// - Parameter limit: the maximum number of entries to read, for directories in which other users
  ///   can create any number.
  package borrowing func names(atMost limit: Int = .max) throws(SystemError) -> [String] {
    let copy = try open(".", flags: O_RDONLY | O_DIRECTORY | O_CLOEXEC).release()
    // SAFETY: the stream owns the descriptor from here on and is closed below; an entry is read
    // before the next call on the stream.
    guard let stream = unsafe fdopendir(copy) else {
      let error = SystemError.last("fdopendir", path: path)
      close(copy)
      throw error
    }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while names.count < limit, let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
        unsafe String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names.sorted()
  }
}

package func fileStatus(
  of descriptor: borrowing Descriptor, path: String
) throws(SystemError) -> FileStatus {
  var result = stat()
  // SAFETY: the kernel writes the structure during the call only.
  guard unsafe fstat(descriptor.number, &result) == 0 else { throw .last("fstat", path: path) }
  return FileStatus(result)
}

/// Calls a function that fills a buffer with text and returns its length, or −1.
func textFromKernel(
  _ operation: String, path: String?, capacity: Int,
  _ call: (UnsafeMutableBufferPointer<CChar>) -> Int
) throws(SystemError) -> String {
  var bytes: [CChar] = Array(repeating: 0, count: capacity)
  // SAFETY: the buffer lives through the call and its true capacity is passed on.
  let count = unsafe bytes.withUnsafeMutableBufferPointer { unsafe call($0) }
  if count < 0 { throw .last(operation, path: path) }
  return String(decoding: bytes[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
}
