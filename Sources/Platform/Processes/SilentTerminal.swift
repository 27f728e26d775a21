import CLinuxShims
import Glibc

/// Disables a terminal's echo while the value exists. Only one may exist at a time.
///
/// Keys that would end the process are read as input. A signal that ends or stops the process
/// restores the terminal first, so that echo is never left disabled.
package struct SilentTerminal: ~Copyable {
  private let number: Int32

  /// Returns nil if the descriptor is not a terminal.
  package init?(_ number: Int32) {
    guard linux_hide_typing(number) else { return nil }
    self.number = number
  }

  /// How the input of a line ended.
  package enum Typed: Hashable, Sendable {
    case line(byteCount: Int)
    case tooLong
    /// By Ctrl-C.
    case interrupted
  }

  private enum Key {
    static let interrupt: UInt8 = 0x03
    static let end: UInt8 = 0x04
    static let backspaces: [UInt8] = [0x08, 0x7f]
    static let eraseLine: UInt8 = 0x15
    static let line: UInt8 = 0x0a
  }

  /// Reads one line, without its newline, into the caller's memory. Backspace and Ctrl-U erase.
  package borrowing func readLine(into span: inout MutableRawSpan) throws(SystemError) -> Typed {
    let number = self.number
    // SAFETY: the kernel writes one byte at an offset inside the span, as checked.
    return try unsafe span.withUnsafeMutableBytes { buffer throws(SystemError) -> Typed in
      var count = 0
      while count < buffer.count {
        let place = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[count..<count + 1])
        let result = try retryingInterrupts("read", path: "the terminal") {
          Int32(unsafe read(number, place.baseAddress, 1))
        }
        let key = unsafe buffer[count]
        if result == 0 || key == Key.line || key == Key.end { return .line(byteCount: count) }
        if key == Key.interrupt { return .interrupted }
        if key == Key.eraseLine {
          count = 0
        } else if Key.backspaces.contains(key) {
          // A character may have several bytes, all but the first 10xxxxxx.
          while count > 0 {
            count -= 1
            if unsafe buffer[count] & 0xc0 != 0x80 { break }
          }
        } else {
          count += 1
        }
      }
      return .tooLong
    }
  }

  deinit { linux_show_typing() }
}
