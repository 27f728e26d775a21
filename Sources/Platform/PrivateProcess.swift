import CLinuxShims
import Glibc

/// Keeps the memory of this process from core dumps, debuggers and `/proc/PID/mem`, for every
/// process but root's (`prctl(2)`, PR_SET_DUMPABLE; an exec ends it).
package func keepMemoryPrivate() throws(SystemError) {
  if linux_forbid_dumps() != 0 { throw .last("prctl PR_SET_DUMPABLE") }
  var none = rlimit(rlim_cur: 0, rlim_max: 0)
  if unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none) != 0 {
    throw .last("setrlimit RLIMIT_CORE")
  }
}

/// Turns off the echo of a terminal while it lives, for what is typed there is nobody's to see.
package struct SilentTerminal: ~Copyable {
  private let number: Int32
  private let before: termios

  /// - Returns: nil for what is no terminal.
  package init?(_ number: Int32) {
    var settings = termios()
    guard unsafe tcgetattr(number, &settings) == 0 else { return nil }
    self.number = number
    before = settings
    settings.c_lflag &= ~tcflag_t(ECHO)
    settings.c_lflag |= tcflag_t(ECHONL)
    _ = unsafe tcsetattr(number, TCSAFLUSH, &settings)
  }

  /// Reads one line, without its end, into memory of the caller's.
  /// - Returns: how many bytes it has; nil if it does not fit.
  package borrowing func readLine(into span: inout MutableRawSpan) throws(SystemError) -> Int? {
    let number = self.number
    // SAFETY: the kernel writes one byte at a place inside the span, as checked.
    return try unsafe span.withUnsafeMutableBytes { buffer throws(SystemError) -> Int? in
      var count = 0
      while count < buffer.count {
        let place = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[count..<count + 1])
        let result = try retryingInterrupts("read", path: "the terminal") {
          Int32(unsafe read(number, place.baseAddress, 1))
        }
        let byte = unsafe buffer[count]
        if result == 0 || byte == UInt8(ascii: "\n") { return count }
        count += 1
      }
      return nil
    }
  }

  deinit {
    var settings = before
    _ = unsafe tcsetattr(number, TCSAFLUSH, &settings)
  }
}
