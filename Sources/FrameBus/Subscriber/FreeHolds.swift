import CFrameLayout
import Synchronization

/// Which hold words of an attachment no lease has. Of this process alone.
///
/// A word's flag has one writer at a time: the subscriber while it is set, the lease while it is
/// not. So taking and giving back are plain stores, and none locks the line.
struct FreeHolds: ~Copyable, Sendable {
  private let flags = InlineArray<16, Atomic<Bool>> { _ in Atomic(false) }
  private let count: Int

  /// - Parameter count: how many words were granted.
  init(count: Int) {
    self.count = count
    precondition(flags.count == Int(FB_MAXIMUM_HOLDS) && count <= flags.count)
    // Relaxed: nobody else knows of it yet.
    for hold in 0..<count { flags[hold].store(true, ordering: .relaxed) }
  }

  /// For one thread at a time.
  @inline(__always)
  func take() -> Int? {
    // Acquire, in `contains`: who gave it back is done with it.
    for hold in 0..<count where contains(hold) {
      // Relaxed: the lease that gets it is handed on with an order of its own.
      flags[hold].store(false, ordering: .relaxed)
      return hold
    }
    return nil
  }

  /// Whether a word is free; it stays so until it is taken.
  @inline(__always)
  func contains(_ hold: Int) -> Bool {
    // Acquire: pairs with `giveBack`.
    hold < count && flags[hold].load(ordering: .acquiring)
  }

  /// On any thread, by whoever had it.
  @inline(__always)
  func giveBack(_ hold: Int) {
    // Release: all that was done under the hold, and the emptying of its word, happen before.
    flags[hold].store(true, ordering: .releasing)
  }
}
