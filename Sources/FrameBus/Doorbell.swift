import Platform
import Synchronization

/// What wakes a subscriber for anything but a frame on the futex: a bell, the publisher's death, a
/// new pool, a new publisher, a cancelled task. Rung by the loop thread, waited for by the
/// subscriber, asleep on a futex or suspended.
final class Doorbell: Sendable {
  /// Changes at every ring.
  let word = PrivateFutexWord()
  private let suspended = Mutex<CheckedContinuation<Void, Never>?>(nil)

  func ring() {
    word.increment()
    word.wakeAll()
    suspended.withLock { suspended in
      suspended?.resume()
      suspended = nil
    }
  }

  /// Suspends until the bell has rung since `seen` was read from `word`.
  func waitSuspended(since seen: UInt32) async {
    await withCheckedContinuation { continuation in
      suspended.withLock { suspended in
        if word.load() != seen {
          continuation.resume()
        } else {
          suspended = continuation
        }
      }
    }
  }
}
