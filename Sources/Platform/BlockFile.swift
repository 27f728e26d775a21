import CLinuxShims
import Glibc

/// A new file that is written in whole blocks at explicit places, past the page cache where the
/// file system lets it (`O_DIRECT`, open(2)).
package struct BlockFile: ~Copyable {
  /// What places and lengths are multiples of. No disk in use has larger blocks.
  package static let blockBytes = 4096

  package let path: String
  private let descriptor: Descriptor
  /// Whether the kernel moves bytes from our memory straight to the disk.
  package private(set) var isDirect = false

  /// Makes the file, or empties the one that is there. It begins without direct writing.
  /// - Throws: also where there is something other than a file, such as a pipe, and where another
  ///   keeps the file (`SystemError.isBusy`).
  package init(creating path: String) throws(SystemError) {
    // O_NONBLOCK: a named pipe that nobody reads would block here.
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

  /// Tries to write past the page cache from now on, or goes back to it.
  package mutating func setDirect(_ wanted: Bool) {
    if linux_set_direct(descriptor.number, wanted) == 0 { isDirect = wanted }
  }

  /// Allocates the blocks of a range of the file, whose size grows with it: writes that need no
  /// allocation can run beside each other. That a file system cannot is no error.
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

  /// Waits until all that was written survives a power cut.
  package borrowing func sync() throws(SystemError) {
    let number = descriptor.number
    _ = try retryingInterrupts("fsync", path: path) { fsync(number) }
  }

  /// Writes bytes, whole. Not while writing is direct.
  package mutating func write(_ bytes: [UInt8], at offset: UInt64) throws(SystemError) {
    precondition(!isDirect, "bytes of any place in memory cannot be written directly")
    // SAFETY: the array outlives the call, which only reads it.
    try unsafe bytes.span.bytes.withUnsafeBytes { (buffer) throws(SystemError) in
      let start = unsafe UnsafeMutableRawPointer(mutating: buffer.baseAddress)
      try unsafe write([iovec(iov_base: start, iov_len: buffer.count)], at: offset)
    }
  }

  /// Writes parts one behind the other, whole.
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
        // It took the flag, and cannot do it after all.
        setDirect(false)
        guard !isDirect else { throw SystemError(code: EINVAL, operation: "pwritev", path: path) }
      } else if errno != EINTR {
        throw .last("pwritev", path: path)
      }
    }
  }
}

extension [iovec] {
  /// Leaves out the first bytes, which were written.
  /// SAFETY: what is left points into the same memory.
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
