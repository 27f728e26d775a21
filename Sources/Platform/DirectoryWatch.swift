import CLinuxShims
import Glibc

/// Calls a handler on the event loop when an entry of a directory appears or is replaced:
/// `inotify(7)`.
package final class DirectoryWatch: Sendable {
  private let loop: EventLoop
  private let inotify: Descriptor
  private let token: EventLoop.Token

  package init(
    _ path: String, _ handler: @escaping @Sendable () -> Void
  ) throws(SystemError) {
    loop = try EventLoop.shared()
    let number = try retryingInterrupts("inotify_init1") { inotify_init1(O_CLOEXEC | O_NONBLOCK) }
    inotify = Descriptor(owning: number)
    let events = UInt32(IN_CREATE | IN_MOVED_TO)
    _ = try retryingInterrupts("inotify_add_watch", path: path) {
      unsafe inotify_add_watch(number, path, events)
    }
    token = try loop.add(number, .readable) { _ in
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
