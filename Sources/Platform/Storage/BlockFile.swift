import CLinuxShims
import Glibc

/// A new file that is written in whole blocks at explicit offsets, bypassing the page cache if the
/// file system supports it (`O_DIRECT`, open(2)).
package struct BlockFile: ~Copyable {
  /// The unit of offsets and lengths. No disk in use has larger blocks.
  package static let blockBytes = 4096

  package let path: String
  private let descriptor: Descriptor
  /// Whether writes bypass the page cache.
  package private(set) var isDirect = false

  /// Creates the file, or truncates an existing one. Initially writes are not direct.
  /// - Throws: also if the path is not a regular file, such as a pipe, or if another writer has
  ///   locked the file (`SystemError.isBusy`).
  package init(creating path: String) throws(SystemError) {
    // O_NONBLOCK: a FIFO without a reader would block here.
    let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK
    // SAFETY: the kernel reads the path during the call only.
    let number = try retryingInterrupts("open", path: path) { unsafe open(path, flags, 0o600) }
    let descriptor = Descriptor(owning: number)
    guard try fileStatus(of: descriptor, path: path).kind == .file else {
      throw SystemError(code: EINVAL, operation: "open", path: path)
    }
    try descriptor.lockForWriting(path: path)
    _ = try retryingInterrupts("ftruncate", path: path) { ftruncate(number, 0) }
    self.descriptor = descriptor
    self.path = path
  }

  package var number: Int32 { descriptor.number }

  /// Starts or stops bypassing the page cache, if the file system supports it.
  package mutating func setDirect(_ wanted: Bool) {
    if linux_set_direct(descriptor.number, wanted) == 0 { isDirect = wanted }
  }

  /// Allocates the blocks of a range and extends the file: writes without allocation can run in
  /// parallel. Missing support in the file system is not an error.
  package borrowing func reserve(_ range: Range<UInt64>) {
    guard let end = Int(exactly: range.upperBound),
      (try? requireAllowedSize(end, "fallocate")) != nil
    else { return }
    _ = linux_allocate(
      descriptor.number, range.lowerBound, range.upperBound - range.lowerBound)
  }

  package borrowing func truncate(to byteCount: UInt64) throws(SystemError) {
    let number = descriptor.number
    try requireAllowedSize(Int(byteCount), "ftruncate", path: path)
    _ = try retryingInterrupts("ftruncate", path: path) { ftruncate(number, off_t(byteCount)) }
  }

  /// Waits until all written data survives a power cut.
  package borrowing func sync() throws(SystemError) {
    let number = descriptor.number
    _ = try retryingInterrupts("fsync", path: path) { fsync(number) }
  }

  /// Writes all bytes. Not allowed while writes are direct.
  package mutating func write(_ bytes: [UInt8], at offset: UInt64) throws(SystemError) {
    precondition(!isDirect, "unaligned bytes cannot be written directly")
    // SAFETY: the array outlives the call, which only reads it.
    try unsafe bytes.span.bytes.withUnsafeBytes { (buffer) throws(SystemError) in
      let start = unsafe UnsafeMutableRawPointer(mutating: buffer.baseAddress)
      try unsafe write([iovec(iov_base: start, iov_len: buffer.count)], at: offset)
    }
  }

  /// Writes all parts consecutively.
  /// SAFETY: the caller keeps the parts' memory alive during the call.
  @unsafe mutating func write(_ parts: [iovec], at offset: UInt64) throws(SystemError) {
    var rest = unsafe parts
    // Empty parts do not count: where nothing is left to write, the kernel writes nothing.
    var left = unsafe parts.reduce(0) { unsafe $0 + $1.iov_len }
    var position = offset
    while left > 0 {
      let count = unsafe pwritev(descriptor.number, rest, Int32(rest.count), off_t(position))
      if count > 0 {
        position += UInt64(count)
        left -= count
        unsafe rest.dropBytes(count)
      } else if count == 0 {
        throw SystemError(code: ENOSPC, operation: "pwritev", path: path)
      } else if errno == EINVAL, isDirect {
        // The file system accepted the flag, but does not support direct writes.
        setDirect(false)
        guard !isDirect else { throw SystemError(code: EINVAL, operation: "pwritev", path: path) }
      } else if errno != EINTR {
        throw .last("pwritev", path: path)
      }
    }
  }
}

extension [iovec] {
  /// Drops the first bytes, which were written.
  /// SAFETY: the remaining parts point into the same memory.
  @unsafe mutating func dropBytes(_ count: Int) {
    var left = count
    while left > 0, let part = unsafe first {
      let taken = unsafe Swift.min(left, part.iov_len)
      left -= taken
      if unsafe taken == part.iov_len {
        unsafe removeFirst()
      } else {
        unsafe self[0] = iovec(iov_base: part.iov_base + taken, iov_len: part.iov_len - taken)
      }
    }
  }
}
