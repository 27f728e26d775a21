import CLinuxShims
import Glibc

/// Reads and writes a file at explicit offsets, and locks it as a whole.
extension Descriptor {
  /// Reads `count` bytes, or fewer at the end of the file (`pread(2)`).
  package borrowing func bytes(
    at offset: Int, count: Int, path: String? = nil
  ) throws(SystemError) -> [UInt8] {
    let number = self.number
    var failure: SystemError?
    // Not zeroed first, which takes as long as reading from the page cache.
    // SAFETY: only the bytes that the call filled are counted.
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      do throws(SystemError) {
        filled = try unsafe readAt(
          offset, into: UnsafeMutableRawBufferPointer(buffer), from: number, path: path)
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return bytes
  }

  /// Reads `count` bytes to the beginning of a span, or fewer at the end of the file.
  /// - Returns: the number of bytes read.
  package borrowing func read(
    _ count: Int, into span: inout MutableRawSpan, at offset: Int, path: String? = nil
  ) throws(SystemError) -> Int {
    precondition(count <= span.byteCount, "\(count) bytes in a span of \(span.byteCount)")
    let number = self.number
    // SAFETY: the kernel writes within the span, during the calls.
    return try unsafe span.withUnsafeMutableBytes { (bytes) throws(SystemError) in
      let part = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[..<count])
      return try unsafe readAt(offset, into: part, from: number, path: path)
    }
  }

  /// Writes all bytes (`pwrite(2)`). On a full disk only a part of them may be written.
  package borrowing func write(
    _ bytes: [UInt8], at offset: Int, path: String? = nil
  ) throws(SystemError) {
    let number = self.number
    var written = 0
    while written < bytes.count {
      // SAFETY: the kernel reads at most what is left of the array.
      let more = unsafe bytes.withUnsafeBytes {
        let rest = unsafe UnsafeRawBufferPointer(rebasing: $0[written...])
        return unsafe pwrite(number, rest.baseAddress, rest.count, off_t(offset + written))
      }
      if more > 0 {
        written += more
      } else if more == 0 {
        throw SystemError(code: ENOSPC, operation: "pwrite", path: path)
      } else if errno != EINTR {
        throw .last("pwrite", path: path)
      }
    }
  }

  /// Waits until the written data survives a power cut (`fdatasync(2)`).
  package borrowing func syncData(path: String? = nil) throws(SystemError) {
    try Platform.syncData(number, path: path)
  }

  /// Takes the exclusive lock on the whole file (an open file description lock, fcntl(2)), for
  /// which it must be open for writing. The kernel releases it when the process dies.
  /// - Returns: false if another open file description, in this process or another, holds it until
  ///   the deadline.
  package borrowing func lockWhole(
    until deadline: Deadline, path: String
  ) throws(SystemError) -> Bool {
    // Locks are held briefly, and the kernel has no wait with a deadline: poll often at first.
    var pauseNs: UInt64 = 20_000
    while linux_lock_exclusively(number) != 0 {
      guard errno == EAGAIN || errno == EACCES || errno == EINTR else {
        throw .last("fcntl F_OFD_SETLK", path: path)
      }
      if deadline.isPast { return false }
      sleep(until: min(deadline, .afterNs(pauseNs)))
      pauseNs = min(pauseNs * 2, 2_000_000)
    }
    return true
  }

  package borrowing func unlockWhole() { _ = linux_unlock(number) }
}

/// Like the method `syncData`, for a descriptor owned elsewhere.
package func syncData(_ number: Int32, path: String? = nil) throws(SystemError) {
  _ = try retryingInterrupts("fdatasync", path: path) { fdatasync(number) }
}

/// Fills memory from an offset of a file, or less of it at the file's end.
/// - Returns: the number of bytes read.
private func readAt(
  _ offset: Int, into bytes: UnsafeMutableRawBufferPointer, from number: Int32, path: String?
) throws(SystemError) -> Int {
  var filled = 0
  // SAFETY: the kernel writes within what is left of the caller's memory.
  while filled < bytes.count {
    let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[filled...])
    let more = unsafe pread(number, rest.baseAddress, rest.count, off_t(offset + filled))
    if more == 0 { break }
    if more > 0 {
      filled += more
    } else if errno != EINTR {
      throw .last("pread", path: path)
    }
  }
  return filled
}
