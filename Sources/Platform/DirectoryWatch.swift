import CLinuxShims
import Glibc

/// Calls a handler on an event loop when something happens in a directory: `inotify(7)`.
package final class DirectoryWatch: Sendable {
  package struct Events: OptionSet, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }
    /// An entry appears or is replaced.
    package static let appearance = Events(rawValue: UInt32(IN_CREATE | IN_MOVED_TO))
    /// An entry goes.
    package static let removal = Events(rawValue: UInt32(IN_DELETE | IN_MOVED_FROM))
    /// A file is written by a call of the kernel. Stores to a mapping go unnoticed.
    package static let writing = Events(rawValue: UInt32(IN_MODIFY))
  }

  private let loop: EventLoop
  private let inotify: Descriptor
  private let token: EventLoop.Token

  /// - Parameter loop: whose thread calls the handler; nil for the process's, which must not be
  ///   kept busy.
  package init(
    _ path: String, _ events: Events = .appearance, on loop: EventLoop? = nil,
    _ handler: @escaping @Sendable () -> Void
  ) throws(SystemError) {
    if let loop { self.loop = loop } else { self.loop = try EventLoop.shared() }
    let number = try retryingInterrupts("inotify_init1") { inotify_init1(O_CLOEXEC | O_NONBLOCK) }
    inotify = Descriptor(owning: number)
    _ = try retryingInterrupts("inotify_add_watch", path: path) {
      unsafe inotify_add_watch(number, path, events.rawValue)
    }
    token = try self.loop.add(number, .readable) { _ in
      // What happened does not matter, only that something did.
      var buffer: InlineArray<4096, UInt8> = InlineArray(repeating: 0)
      var span = buffer.mutableSpan
      // SAFETY: reads at most the buffer's size into it.
      unsafe span.withUnsafeMutableBufferPointer { buffer in
        while unsafe read(number, buffer.baseAddress, buffer.count) > 0 {}
      }
      handler()
    }
  }

  deinit { loop.remove(token, inotify.number) }
}
