import CFrameLayout
import Synchronization

/// The free hold words of an attachment. Private to this process.
///
/// A word's flag has one writer at a time: the subscriber while it is set, the lease while it is
/// clear. So taking and giving back are plain stores without a locked instruction.
struct FreeHolds: ~Copyable, Sendable {
  private let flags = InlineArray<16, Atomic<Bool>> { _ in Atomic(false) }
  private let count: Int

  /// - Parameter count: number of granted words.
  init(count: Int) {
    self.count = count
    precondition(flags.count == Int(FB_MAXIMUM_HOLDS) && count <= flags.count)
    // Relaxed: no other thread has a reference yet.
    for hold in 0..<count { flags[hold].store(true, ordering: .relaxed) }
  }

  /// Call from one thread at a time.
  @inline(__always)
  func take() -> Int? {
    // Acquire, in `contains`: the previous lease has finished with the word.
    for hold in 0..<count where contains(hold) {
      // Relaxed: passing the lease to another thread has its own ordering.
      flags[hold].store(false, ordering: .relaxed)
      return hold
    }
    return nil
  }

  /// Whether a word is free. It stays free until it is taken.
  @inline(__always)
  func contains(_ hold: Int) -> Bool {
    // Acquire: pairs with `giveBack`.
    hold < count && flags[hold].load(ordering: .acquiring)
  }

  /// Call on any thread, from the lease that took the word.
  @inline(__always)
  func giveBack(_ hold: Int) {
    // Release: all accesses under the hold, and the clearing of its word, happen before.
    flags[hold].store(true, ordering: .releasing)
  }
}
