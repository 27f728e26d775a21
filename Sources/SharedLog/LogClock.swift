import Platform
import Synchronization

/// Reads both clocks at the cost of one. The wall clock is the monotonic clock plus a difference
/// that is measured again after a millisecond, so a change of the wall clock shows within that.
final class LogClock: Sendable {
  private let difference = Atomic<UInt64>(0)
  private let measuredAtNs = Atomic<UInt64>(0)
  private static let intervalNs: UInt64 = 1_000_000

  struct Reading {
    let wallNs: UInt64
    let monotonicNs: UInt64
  }

  func now() -> Reading {
    let now = monotonicNowNs()
    if now &- measuredAtNs.load(ordering: .acquiring) > Self.intervalNs {
      // Relaxed: several threads may measure at once, and either difference is right. The time of
      // measuring is stored last, so a difference exists once that time does.
      difference.store(wallNowNs() &- now, ordering: .relaxed)
      measuredAtNs.store(now, ordering: .releasing)
    }
    // Relaxed: as above.
    return Reading(wallNs: now &+ difference.load(ordering: .relaxed), monotonicNs: now)
  }
}
