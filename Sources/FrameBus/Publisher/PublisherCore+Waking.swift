import CFrameLayout
import Synchronization

extension PublisherCore {
  /// Wakes every subscriber that announced its sleep: one system call for all that sleep on the
  /// futex, and one for each that waits for its bell or semaphore. If they are more than eight or
  /// four, or some are slow to wake, one system call hands them to the wake thread.
  func wakeSleepers() {
    // Relaxed load: this thread is the word's only writer.
    // SYNC wake/sleep: release, so that a reader of the new word sees the new cursor.
    board.wake.storeReleasing(board.wake.loadRelaxed() &+ 1)
    crashPoint(.wakeBumped)
    // SYNC wake/sleep: Dekker. Our store of `wake`, fence, our load of `waiting`; the subscriber's
    // store of `waiting`, fence, its load of `wake` (Attachment.prepareToSleep).
    // SYNC arrival/cursor: Dekker. Our store of `cursor`, this fence, our next load of the mask of
    // lossless seats; pairs with the fence in `StreamServer.welcome`.
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    var sleepers = Sleepers()
    for seat in SetBits(seats.takenMask) {
      // Relaxed: ordered by the fence above.
      switch Int(seats.page(seat).waiting.loadRelaxed()) {
      case Int(FB_WAITING_FUTEX): sleepers.onFutex += 1
      case Int(FB_WAITING_BELL): sleepers.bells |= 1 << UInt64(seat)
      case Int(FB_WAITING_SEMAPHORE): sleepers.semaphores |= 1 << UInt64(seat)
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
