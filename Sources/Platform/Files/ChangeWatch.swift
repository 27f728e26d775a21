import Glibc
import Synchronization

/// Reports changes in directories: `inotify(7)`. Instances and watches are limited per user, so
/// another process of the user can use all of them, and a filter can forbid the calls. Then a timer
/// reports a change every second, and its owner polls.
package final class ChangeWatch: Sendable {
  package struct Events: OptionSet, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }
    /// An entry appears or is replaced.
    package static let appearance = Events(rawValue: UInt32(IN_CREATE | IN_MOVED_TO))
    /// An entry is removed or moved away.
    package static let removal = Events(rawValue: UInt32(IN_DELETE | IN_MOVED_FROM))
    /// A file is written by a system call. Stores to a mapping are not reported.
    package static let writing = Events(rawValue: UInt32(IN_MODIFY))
    /// A process with write access to a file has closed it, or died.
    package static let closing = Events(rawValue: UInt32(IN_CLOSE_WRITE))
  }

  /// An inotify instance, or the timer that replaces it.
  private let source: Descriptor

  private static let pollInterval = Duration.seconds(1)

  package init(_ paths: [String], _ events: Events) throws(SystemError) {
    do throws(SystemError) {
      source = try Self.inotify(paths, events)
    } catch {
      guard error.isShortageOfWatches else { throw error }
      // Fails if this process is out of descriptors.
      source = try TimerDescriptor.ticks(every: Self.pollInterval)
      Self.reportShortage(error)
    }
  }

  private static func inotify(
    _ paths: [String], _ events: Events
  ) throws(SystemError) -> Descriptor {
    let inotify = Descriptor(
      owning: try retryingInterrupts("inotify_init1") { inotify_init1(O_CLOEXEC | O_NONBLOCK) })
    let number = inotify.number
    for path in paths {
      _ = try retryingInterrupts("inotify_add_watch", path: path) {
        // SAFETY: the kernel reads the path during the call only.
        unsafe inotify_add_watch(number, path, events.rawValue | UInt32(IN_ONLYDIR))
      }
    }
    return inotify
  }

  // MARK: Shortage

  private static let shortageHandler = Mutex<(@Sendable (String) -> Void)?>(nil)

  /// Sets a handler that is called once with a message for the user, when the first watch of this
  /// process falls back to the timer.
  package static func onShortage(_ handler: @escaping @Sendable (String) -> Void) {
    shortageHandler.withLock { $0 = handler }
  }

  private static func reportShortage(_ error: SystemError) {
    shortageHandler.withLock { $0.take() }?(
      "no inotify watch is available (\(error.operation): \(error.reason)), so changes are looked"
        + " for once a second; see fs.inotify in inotify(7) for the limits of each user")
  }

  // MARK: Changes

  /// Readable after a change, until ``take()``.
  var descriptorNumber: Int32 { source.number }

  /// One event with the longest name (inotify(7)).
  private static let maximumEventBytes = 16 + 256

  /// Reads and discards the pending events.
  func take() {
    var buffer: InlineArray<4096, UInt8> = InlineArray(repeating: 0)
    var span = buffer.mutableSpan
    // SAFETY: reads at most the buffer's size into it.
    unsafe span.withUnsafeMutableBufferPointer { buffer in
      // A read that leaves room for another event has taken all.
      let most = buffer.count - Self.maximumEventBytes
      while unsafe read(source.number, buffer.baseAddress, buffer.count) > most {}
    }
  }

  /// Waits for a change since the last wait.
  /// - Returns: false if the deadline passed, or `stop` was raised.
  package func wait(stop: StopSignal, until deadline: Deadline) throws(SystemError) -> Bool {
    guard
      try firstReadable(stop.descriptorNumber, source.number, until: deadline) == 1
    else { return false }
    take()
    return true
  }
}

extension SystemError {
  /// Whether inotify(7) failed because of a limit, lack of memory, a filter, or missing kernel
  /// support. Not `EACCES`, which concerns the directory.
  fileprivate var isShortageOfWatches: Bool {
    [EMFILE, ENFILE, ENOSPC, ENOMEM, ENOSYS, EPERM].contains(code)
  }
}
