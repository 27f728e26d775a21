import CSemaphoreLayout
import Platform

/// A plain semaphore: the `sem_t` in the file.
///
/// `sem_init(3)` initialises it, and C programs use it with `sem_wait(3)` and `sem_post(3)`. The
/// code here changes its word as glibc does. It does not call glibc, because glibc reads from the
/// `sem_t` how to call the kernel, and aborts the process if another member corrupted that.
extension SemaphoreFile {
  /// The count is in the low half, the number of waiting threads in the high half.
  private static var word: Int { Int(GS_AT_POSIX) }
  private static let oneWaiter: UInt64 = 1 << 32

  func posixValue() throws(SemaphoreError) -> Int {
    // SYNC post/take: acquire side.
    try checkedValue(memory.loadAcquiring64(at: Self.word))
  }

  func takePosixCount() throws(SemaphoreError) -> Bool {
    while true {
      // SYNC post/take: acquire side. The taker of a count sees what was done before its post.
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

  /// Sleeps while the count is 0. C programs that post check for waiters, too.
  func sleepForPosixCount(stop: StopSignal?, until deadline: Deadline) {
    // SYNC wait/post: announced before the kernel checks the count.
    memory.add64(Self.oneWaiter, at: Self.word)
    memory.sleep(while: Self.word, is: 0, stop: stop, until: deadline)
    // SYNC wait/post: ends the announcement. If this process dies before, each post makes one
    // system call more than it needs.
    memory.add64(0 &- Self.oneWaiter, at: Self.word)
  }

  func wakePosixWaiters() { memory.wake(.max, at: Self.word) }

  private func checkedValue(_ word: UInt64) throws(SemaphoreError) -> Int {
    let value = Int(UInt32(truncatingIfNeeded: word))
    if value <= maximumValue { return value }
    throw .damaged(name, why: "its count is \(value)")
  }
}
