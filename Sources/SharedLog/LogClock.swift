import Platform
import Synchronization

/// Both clocks for the price of one: the wall clock is the monotonic one and a difference, which is
/// looked at again after a millisecond. So a wall clock that is set is followed within that.
final class LogClock: Sendable {
  private let difference = Atomic<UInt64>(0)
  private let lookedAtNs = Atomic<UInt64>(0)
  private static let intervalNs: UInt64 = 1_000_000

  struct Reading {
    let wallNs: UInt64
    let monotonicNs: UInt64
  }

  func now() -> Reading {
    let now = monotonicNowNs()
    if now &- lookedAtNs.load(ordering: .acquiring) > Self.intervalNs {
      // Relaxed: two threads may look at once, and whichever difference stays is true. There is one
      // before there is a time of looking.
      difference.store(wallNowNs() &- now, ordering: .relaxed)
      lookedAtNs.store(now, ordering: .releasing)
    }
    // Relaxed: as above.
    return Reading(wallNs: now &+ difference.load(ordering: .relaxed), monotonicNs: now)
  }
}
