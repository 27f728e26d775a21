import Platform

/// How long a waiter spins before it sleeps.
///
/// Spinning pays only when the next frame comes sooner than a sleeping core wakes (20…60 µs), and
/// only on a core that nobody else wants. The budget grows while spinning succeeds and shrinks
/// while it fails, so that a 60 fps stream costs next to none and a fast one no wake-ups. A spin
/// that took much longer than its turns do was interrupted: somebody else wants this core, perhaps
/// the publisher, and for a while there is no spinning at all. Nor is there on a single core.
struct SpinBudget {
  private static let least = 16
  private static let most = 4096
  /// Waits without spinning after an interruption.
  private static let rest = 64
  /// What tells an interruption from a slow turn: a scheduler's time slice is longer.
  private static let interruptionNs: UInt64 = 500_000

  private var turns: Int
  private var restLeft = 0

  init() { turns = processorCount() > 1 ? Self.least : 0 }

  /// Spins within the budget.
  /// - Returns: whether what was waited for came.
  @inline(__always)
  mutating func spin(until hasCome: () -> Bool) -> Bool {
    guard restLeft == 0 else {
      restLeft -= 1
      return hasCome()
    }
    // Short spins are not worth the clock.
    let start = turns > 256 ? monotonicNowNs() : 0
    for _ in 0..<turns {
      if hasCome() {
        turns = min(turns * 2, Self.most)
        return true
      }
      spinHint()
    }
    if start != 0, monotonicNowNs() - start > Self.interruptionNs { restLeft = Self.rest }
    turns = turns > Self.least ? turns / 2 : turns
    return false
  }
}
