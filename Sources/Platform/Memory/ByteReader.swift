import Glibc

/// Reads bytes in order from a file, a pipe or a terminal; a `StopSignal` ends a blocked read.
package struct ByteReader: ~Copyable {
  private let descriptor: Descriptor
  private let path: String

  /// Opens a file for reading.
  package init(path: String) throws(SystemError) {
    // O_NONBLOCK: opening a FIFO without a writer would block, and a stop could not end it.
    let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK
    // SAFETY: `open` reads the string during the call only.
    descriptor = Descriptor(
      owning: try retryingInterrupts("open", path: path) { unsafe open(path, flags) })
    self.path = path
  }

  /// Reads standard input.
  package init(standardInput: Void) throws(SystemError) {
    let path = "standard input"
    descriptor = Descriptor(
      owning: try retryingInterrupts("fcntl", path: path) {
        fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
      })
    self.path = path
  }

  /// Reads once, waiting until data is available.
  /// - Returns: the number of bytes read; 0 at the end of input or when `stop` was raised.
  package func read(
    into buffer: UnsafeMutableRawBufferPointer, stop: StopSignal
  ) throws(SystemError) -> Int {
    let number = descriptor.number
    while true {
      // A regular file is always readable; on a pipe this waits for the writer or the stop.
      let ready = try firstReadable(stop.descriptorNumber, number, until: .never)
      if ready == 0 { return 0 }
      // SAFETY: the caller's buffer is valid for its count.
      let count = unsafe Glibc.read(number, buffer.baseAddress, buffer.count)
      if count >= 0 { return count }
      // EAGAIN: another reader of the pipe was faster.
      if errno != EINTR, errno != EAGAIN { throw .last("read", path: path) }
    }
  }
  /// Reads once into a part of a span, waiting until data is available.
  /// - Returns: the number of bytes read; 0 at the end of input or when `stop` was raised.
  package func read(
    into span: inout MutableRawSpan, _ range: Range<Int>, stop: StopSignal
  ) throws(SystemError) -> Int {
    precondition(
      range.lowerBound >= 0 && range.upperBound <= span.byteCount,
      "bytes \(range) of a span of \(span.byteCount)")
    // SAFETY: the range lies inside the span, as checked.
    return try unsafe span.withUnsafeMutableBytes { (bytes) throws(SystemError) in
      try unsafe read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[range]), stop: stop)
    }
  }

  /// Reads once, up to `count` bytes; empty at the end of input or when `stop` was raised.
  package func read(atMost count: Int, stop: StopSignal) throws(SystemError) -> [UInt8] {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
    defer { unsafe buffer.deallocate() }
    // SAFETY: the buffer lives until this function returns.
    let filled = try unsafe read(into: buffer, stop: stop)
    return unsafe Array(buffer.prefix(filled))
  }
}
