import Foundation
import Platform
import Synchronization
import TestSupport
import Testing

@Suite struct OutputFileTests {
  /// The lock's holder may remove the file; then the lock excludes no other process.
  @Test func ofManyThatLockAFileAndRemoveItOneHasItAtATime() throws {
    let root = try TemporaryRoot()
    let path = root.file("lock")
    let holders = Atomic<Int>(0)
    let most = Atomic<Int>(0)
    let held = Atomic<Int>(0)
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      for _ in 1...5000 {
        let file = OutputFile(path)
        guard let lock = try? file.lock() else { continue }
        let count = holders.add(1, ordering: .sequentiallyConsistent).newValue
        most.max(count, ordering: .sequentiallyConsistent)
        held.add(1, ordering: .relaxed)
        for _ in 1...3 { sched_yield() }
        holders.subtract(1, ordering: .sequentiallyConsistent)
        try? file.remove()
        _ = consume lock
      }
    }
    #expect(most.load(ordering: .relaxed) == 1)
    #expect(held.load(ordering: .relaxed) > 1)
  }
}
