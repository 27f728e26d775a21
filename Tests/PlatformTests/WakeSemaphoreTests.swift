import Foundation
import Platform
import TestSupport
import Testing

/// A semaphore in memory that a peer can write.
@Suite struct WakeSemaphoreTests {
  @Test func aPostEndsAWaitAndIsUsedUp() throws {
    let semaphore = try WakeSemaphore()
    let received = WakeSemaphore(received: Descriptor(owning: dup(semaphore.number)))
    let peer = try #require(received)
    semaphore.post()
    peer.wait(until: .after(.seconds(60)))
    let start = monotonicNowNs()
    peer.wait(until: .after(.milliseconds(5)))
    #expect(monotonicNowNs() - start >= 5_000_000, "the count was taken")
  }

  @Test func aSleeperIsWokenByAPost() throws {
    let semaphore = try WakeSemaphore()
    let isAwake = PrivateFutexWord()
    try startThread(named: "wake-semaphore") {
      semaphore.wait(until: .never)
      isAwake.store(1)
    }
    try waitUntil("it sleeps") { try isAsleep(threadNamed: "wake-semaphore") }
    semaphore.post()
    try waitUntil("it is awake") { isAwake.load() == 1 }
  }

  /// 64 bits: the count and the waiters. glibc reads more of it, and aborts if that is invalid.
  @Test(arguments: [
    [0, 1, 0x7f, 0], [0, 7, 0xffff_ffff, 3], [0x7fff_ffff, 1, 0x7f, 0], [0xffff_ffff, 0, 0, 0],
    [0xffff_ffff, 0xffff_ffff, 0xffff_ffff, 0xffff_ffff],
  ])
  func nonsenseInItsMemoryIsSurvived(_ words: [UInt32]) throws {
    let semaphore = try WakeSemaphore()
    let number = dup(semaphore.number)
    guard let memory = MemoryFile(received: Descriptor(owning: number), byteCount: 4096) else {
      throw HarnessError("it lacks the required seals")
    }
    let mapping = try Mapping(memory, .readAndWrite)
    for _ in 1...100 {
      for (index, word) in words.enumerated() {
        // SAFETY: four words of a page.
        unsafe mapping.base.storeBytes(of: word, toByteOffset: index * 4, as: UInt32.self)
      }
      semaphore.post()
      semaphore.wait(until: .after(.microseconds(10)))
    }
  }
}
