import CFrameLayout
import Synchronization

extension PublisherCore {
  /// Wakes every subscriber that said it would sleep: one system call for all that sleep on the
  /// futex, one for each that waits for its bell or semaphore, and one in all if they are more than
  /// four or some are slow to wake, as then the wake thread does it.
  func wakeSleepers() {
    // Relaxed load: this thread is the word's one writer.
    // SYNC wake/sleep: release, so that who sees the new word sees the new cursor.
    board.wake.storeReleasing(board.wake.loadRelaxed() &+ 1)
    crashPoint(.wakeBumped)
    // SYNC wake/sleep: Dekker. Our store of `wake`, fence, our load of `waiting`; the subscriber's
    // store of `waiting`, fence, its load of `wake` (Attachment.prepareToSleep).
    // SYNC arrival/cursor: Dekker. Our store of `cursor`, this fence, our next look at the mask of
    // lossless places; pairs with the fence in `StreamServer.welcome`.
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    var sleepers = Sleepers()
    for place in SetBits(places.takenMask) {
      // Relaxed: ordered by the fence above.
      switch Int(places.page(place).waiting.loadRelaxed()) {
      case Int(FB_WAITING_FUTEX): sleepers.onFutex += 1
      case Int(FB_WAITING_BELL): sleepers.bells |= 1 << UInt64(place)
      case Int(FB_WAITING_SEMAPHORE): sleepers.semaphores |= 1 << UInt64(place)
      default: break
      }
    }
    guard !sleepers.isEmpty else { return }
    // Relaxed: one writer, a statistic.
    board.wakeUps.storeRelaxed(board.wakeUps.loadRelaxed() &+ 1)
    crashPoint(.wakeUpCounted)
    waker.wake(sleepers)
  }
}
