import Glibc

/// Waits for changes to what directories hold: entries that come and go, and files that are
/// written to or closed by who wrote to them (`inotify(7)`).
package final class ChangeWatch: Sendable {
  private let inotify: Descriptor

  package init(_ paths: [String]) throws(SystemError) {
    let number = try retryingInterrupts("inotify_init1") { inotify_init1(O_CLOEXEC | O_NONBLOCK) }
    inotify = Descriptor(owning: number)
    let events = UInt32(IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_MODIFY | IN_CLOSE_WRITE)
    for path in paths {
      _ = try retryingInterrupts("inotify_add_watch", path: path) {
        // SAFETY: the kernel reads the path during the call only.
        unsafe inotify_add_watch(number, path, events | UInt32(IN_ONLYDIR))
      }
    }
  }

  /// Waits for a change since the last wait.
  /// - Returns: false if the deadline passed, or `stop` was raised.
  package func wait(stop: StopSignal, until deadline: Deadline) throws(SystemError) -> Bool {
    guard
      try firstReadable(stop.descriptorNumber, inotify.number, until: deadline) == 1
    else { return false }
    // What happened does not matter, only that something did.
    var buffer: InlineArray<4096, UInt8> = InlineArray(repeating: 0)
    var span = buffer.mutableSpan
    // SAFETY: reads at most the buffer's size into it.
    unsafe span.withUnsafeMutableBufferPointer { buffer in
      while unsafe read(inotify.number, buffer.baseAddress, buffer.count) > 0 {}
    }
    return true
  }
}
