import CLinuxShims
import Glibc

/// Writes all bytes to a descriptor. May block indefinitely.
package func writeFully(_ bytes: [UInt8], to number: Int32) throws(SystemError) {
  // SAFETY: bytes have no padding.
  try writeFully(unsafe bytes.span.bytes, to: number)
}

/// Writes data unchanged; for a terminal, as escaped lines.
package func writeData(_ bytes: RawSpan, to number: Int32) throws(SystemError) {
  guard isTerminal(number) else { return try writeFully(bytes, to: number) }
  // SAFETY: the bytes are read within the call.
  let text = unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
  try writeFully(Array(text.plainLines.utf8), to: number)
}

/// As above, from borrowed memory.
/// - Parameter path: the file's path, for errors.
package func writeFully(
  _ bytes: RawSpan, to number: Int32, path: String? = nil
) throws(SystemError) {
  var position = 0
  while position < bytes.byteCount {
    let start = position
    // SAFETY: the rest of the span is passed with its true length for the call only.
    let written = unsafe bytes.withUnsafeBytes {
      unsafe write(number, $0.baseAddress.map { unsafe $0 + start }, $0.count - start)
    }
    if written >= 0 { position += written; continue }
    if errno == EAGAIN {
      var ready = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
      _ = unsafe poll(&ready, 1, -1)
    } else if errno != EINTR {
      throw .last(
        "write", path: path ?? (number == STDOUT_FILENO ? SystemError.standardOutput : nil))
    }
  }
}

/// Opens standard input, output and error if the program was started without them, so that no other
/// file gets their numbers. Reading and writing them fails as on closed descriptors.
package func occupyStandardDescriptors() throws(SystemError) {
  for number in Int32(0)...2 where fcntl(number, F_GETFD) < 0 {
    let useless = number == 0 ? O_WRONLY : O_RDONLY
    // The lowest free number is this one: those below it are open.
    // SAFETY: the path is copied for the call.
    _ = try retryingInterrupts("open", path: "/dev/null") { unsafe open("/dev/null", useless) }
  }
}

/// Whether a descriptor is a terminal (`isatty(3)`).
package func isTerminal(_ number: Int32) -> Bool { isatty(number) == 1 }

/// Discards what was typed on a terminal and not read yet (`tcflush(3)`): it cannot be the answer
/// to a question that its user has not seen.
package func discardTyped(_ number: Int32) { _ = tcflush(number, TCIFLUSH) }

/// A terminal's size in characters.
package struct TerminalSize: Hashable, Sendable {
  package let columns: Int
  package let rows: Int

  /// Returns nil if the descriptor is not a terminal or its size is unknown.
  package init?(of number: Int32) {
    var (columns, rows): (UInt32, UInt32) = (0, 0)
    guard unsafe linux_terminal_size(number, &columns, &rows) == 0, columns > 0, rows > 0 else {
      return nil
    }
    self.columns = Int(columns)
    self.rows = Int(rows)
  }
}

/// Ends the process without running deferred work (`exit(3)`).
package func exitProcess(_ status: Int32) -> Never { exit(status) }
