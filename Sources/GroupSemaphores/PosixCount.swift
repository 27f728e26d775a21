import CSemaphoreLayout
import Platform

/// A plain semaphore: the `sem_t` in the file.
///
/// `sem_init(3)` made it, and C programs use it with `sem_wait(3)` and `sem_post(3)`; what is done
/// here to its word is what glibc does. But glibc's own functions take from the `sem_t` how to call
/// the kernel, and abort the process if another member wrote nonsense there. These do not.
extension SemaphoreFile {
  /// The count in the low half; in the high half, how many threads wait.
  private static var word: Int { Int(GS_AT_POSIX) }
  private static let oneWaiter: UInt64 = 1 << 32

  func posixValue() throws(SemaphoreError) -> Int {
    // SYNC post/take: acquire side.
    try checkedValue(memory.loadAcquiring64(at: Self.word))
  }

  func takePosixCount() throws(SemaphoreError) -> Bool {
    while true {
      // SYNC post/take: acquire side. What was done before a post is seen by who takes its count.
      let word = memory.loadAcquiring64(at: Self.word)
      if try checkedValue(word) == 0 { return false }
      if memory.replace64(word, with: word - 1, at: Self.word) { return true }
    }
  }

  func postPosixCount(_ onStep: OnStep) throws(SemaphoreError) {
    while true {
      // SYNC post/take: release side, by the exchange.
      // SYNC wait/post: one word holds count and waiters, so either this sees the waiter or the
      // waiter sees the count.
      let word = memory.loadAcquiring64(at: Self.word)
      if try checkedValue(word) == maximumValue { throw .full(name, maximum: maximumValue) }
      guard memory.replace64(word, with: word + 1, at: Self.word) else { continue }
      onStep?(.countPosted)
      if word >= Self.oneWaiter { memory.wake(1, at: Self.word) }
      return
    }
  }

  /// Sleeps while the count is 0. C programs that post look for waiters, too.
  func sleepForPosixCount(stop: StopSignal?, until deadline: Deadline) {
    // SYNC wait/post: announced before the kernel looks at the count.
    memory.add64(Self.oneWaiter, at: Self.word)
    memory.sleep(while: Self.word, is: 0, stop: stop, until: deadline)
    // SYNC wait/post: the end of the announcement; if this process dies before, posts make a system
    // call more than they need to.
    memory.add64(0 &- Self.oneWaiter, at: Self.word)
  }

  func wakePosixWaiters() { memory.wake(.max, at: Self.word) }

  private func checkedValue(_ word: UInt64) throws(SemaphoreError) -> Int {
    let value = Int(UInt32(truncatingIfNeeded: word))
    if value <= maximumValue { return value }
    throw .damaged(name, why: "its count is \(value)")
  }
}
