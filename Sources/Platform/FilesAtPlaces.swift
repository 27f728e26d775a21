import CLinuxShims
import Glibc

/// Reading and writing a file at explicit places, and locking it as a whole, by a descriptor that
/// stays open.
extension Descriptor {
  /// Reads so many bytes, or fewer where the file ends (`pread(2)`).
  package borrowing func bytes(
    at offset: Int, count: Int, path: String
  ) throws(SystemError) -> [UInt8] {
    var bytes: [UInt8] = Array(repeating: 0, count: count)
    let number = self.number
    var filled = 0
    while filled < count {
      // SAFETY: the kernel writes at most what is left of the array.
      let more = unsafe bytes.withUnsafeMutableBytes {
        unsafe pread(
          number, $0.baseAddress.map { unsafe $0 + filled }, count - filled, off_t(offset + filled))
      }
      if more == 0 { break }
      if more > 0 {
        filled += more
      } else if errno != EINTR {
        throw .last("pread", path: path)
      }
    }
    bytes.removeLast(count - filled)
    return bytes
  }

  /// Writes bytes, whole (`pwrite(2)`). On a full disk a part of them may be written.
  package borrowing func write(
    _ bytes: [UInt8], at offset: Int, path: String
  ) throws(SystemError) {
    let number = self.number
    var written = 0
    while written < bytes.count {
      // SAFETY: the kernel reads at most what is left of the array.
      let more = unsafe bytes.withUnsafeBytes {
        unsafe pwrite(
          number, $0.baseAddress.map { unsafe $0 + written }, bytes.count - written,
          off_t(offset + written))
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

  /// Waits until what was written survives a power cut (`fdatasync(2)`).
  package borrowing func syncData(path: String) throws(SystemError) {
    let number = self.number
    _ = try retryingInterrupts("fdatasync", path: path) { fdatasync(number) }
  }

  /// Takes the exclusive lock on the whole file (an open file description lock, fcntl(2)), for
  /// which it must be open for writing. The kernel lets go of it when the process dies.
  /// - Returns: false if another opening of the file, in this process or another, holds it until
  ///   the deadline.
  package borrowing func lockWhole(
    until deadline: Deadline, path: String
  ) throws(SystemError) -> Bool {
    // Holders are brief, and the kernel has no wait with a deadline: look often at first.
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
