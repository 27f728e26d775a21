import CFrameLayout
import Platform
import Synchronization

/// The sockets of subscribers that wait on a descriptor, for the publishing thread to ring.
///
/// A bell is one small packet on the control connection, sent without blocking: where it finds the
/// socket full, bells enough are already in it.
final class Bells: Sendable {
  /// A descriptor a place, −1 for none. Held only for the length of a send or an assignment, so
  /// that a descriptor is not closed, and its number reused, while it is being rung.
  private let sockets = Mutex(InlineArray<64, Int32>(repeating: -1))

  /// - Parameter descriptor: stays its owner's, who hangs it out again before closing it.
  func hang(_ descriptor: Int32?, at place: Int) {
    sockets.withLock { $0[place] = descriptor ?? -1 }
  }

  func ring(_ mask: UInt64) {
    let message = fb_short_message(Int(FB_MESSAGE_BELL))
    sockets.withLock { sockets in
      for place in SetBits(mask) where sockets[place] >= 0 {
        sendWithoutBlocking(message, to: sockets[place])
      }
    }
  }
}
