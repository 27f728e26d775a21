import Platform

/// How long a waiter spins before it sleeps.
///
/// Spinning pays only if the next frame comes sooner than a sleeping core wakes (20…60 µs), and
/// only on an otherwise idle core. The budget grows while spinning succeeds and shrinks while it
/// fails; once the least has failed, only one wait in eight spins. So a 60 fps stream costs almost
/// no spinning and a fast one no wake-ups. A spin that took much longer than expected was
/// interrupted: another thread needs the core, perhaps the publisher, so spinning pauses. A single
/// core never spins.
struct SpinBudget {
  private static let least = 16
  private static let most = 4096
  /// Number of waits without spinning after the least spin has failed.
  private static let shortRest = 7
  /// Number of waits without spinning after an interruption.
  private static let rest = 64
  /// Longer spins were interrupted: a scheduler's time slice exceeds this.
  private static let interruptionNs: UInt64 = 500_000

  private var turns: Int
  private var restLeft = 0

  init() { turns = processorCount() > 1 ? Self.least : 0 }

  /// Spins within the budget.
  /// - Returns: whether `hasCome` returned true.
  @inline(__always)
  mutating func spin(until hasCome: () -> Bool) -> Bool {
    guard restLeft == 0 else {
      restLeft -= 1
      return hasCome()
    }
    // Short spins are not worth reading the clock.
    let start = turns > 256 ? monotonicNowNs() : 0
    for _ in 0..<turns {
      if hasCome() {
        turns = min(turns * 2, Self.most)
        return true
      }
      spinHint()
    }
    if turns > Self.least {
      turns /= 2
    } else {
      restLeft = Self.shortRest
    }
    if start != 0, monotonicNowNs() - start > Self.interruptionNs { restLeft = Self.rest }
    return false
  }
}
