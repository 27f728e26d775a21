import Glibc

/// Tells of changes to what directories hold: `inotify(7)`.
package final class ChangeWatch: Sendable {
  package struct Events: OptionSet, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }
    /// An entry appears or is replaced.
    package static let appearance = Events(rawValue: UInt32(IN_CREATE | IN_MOVED_TO))
    /// An entry goes.
    package static let removal = Events(rawValue: UInt32(IN_DELETE | IN_MOVED_FROM))
    /// A file is written by a call of the kernel. Stores to a mapping go unnoticed.
    package static let writing = Events(rawValue: UInt32(IN_MODIFY))
    /// Who could write to a file has closed it, or died.
    package static let closing = Events(rawValue: UInt32(IN_CLOSE_WRITE))
  }

  private let inotify: Descriptor

  package init(_ paths: [String], _ events: Events) throws(SystemError) {
    let number = try retryingInterrupts("inotify_init1") { inotify_init1(O_CLOEXEC | O_NONBLOCK) }
    inotify = Descriptor(owning: number)
    for path in paths {
      _ = try retryingInterrupts("inotify_add_watch", path: path) {
        // SAFETY: the kernel reads the path during the call only.
        unsafe inotify_add_watch(number, path, events.rawValue | UInt32(IN_ONLYDIR))
      }
    }
  }

  /// Readable after a change, until ``take()``.
  var descriptorNumber: Int32 { inotify.number }

  /// Takes out what happened. It does not matter, only that something did.
  func take() {
    var buffer: InlineArray<4096, UInt8> = InlineArray(repeating: 0)
    var span = buffer.mutableSpan
    // SAFETY: reads at most the buffer's size into it.
    unsafe span.withUnsafeMutableBufferPointer { buffer in
      while unsafe read(inotify.number, buffer.baseAddress, buffer.count) > 0 {}
    }
  }

  /// Waits for a change since the last wait.
  /// - Returns: false if the deadline passed, or `stop` was raised.
  package func wait(stop: StopSignal, until deadline: Deadline) throws(SystemError) -> Bool {
    guard
      try firstReadable(stop.descriptorNumber, inotify.number, until: deadline) == 1
    else { return false }
    take()
    return true
  }
}
