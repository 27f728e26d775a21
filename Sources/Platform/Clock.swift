import Glibc

/// `CLOCK_MONOTONIC` in nanoseconds: the one clock of frames, deadlines and statistics.
public func monotonicNowNs() -> UInt64 { clockNs(CLOCK_MONOTONIC) }

/// `CLOCK_REALTIME` in nanoseconds since 1970.
package func wallNowNs() -> UInt64 { clockNs(CLOCK_REALTIME) }

private func clockNs(_ clock: clockid_t) -> UInt64 {
  var time = timespec()
  unsafe clock_gettime(clock, &time)
  return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
}

/// A moment of the monotonic clock at which waiting ends.
public struct Deadline: Hashable, Comparable, Sendable {
  /// Nanoseconds of `CLOCK_MONOTONIC`; `UInt64.max` for never.
  public let monotonicNs: UInt64

  public init(monotonicNs: UInt64) { self.monotonicNs = monotonicNs }

  public static func < (left: Self, right: Self) -> Bool { left.monotonicNs < right.monotonicNs }

  public static let never = Deadline(monotonicNs: .max)
  /// Already past: a wait until it only looks.
  public static let now = Deadline(monotonicNs: 0)

  /// The moment that is so far away; a negative distance is now.
  public static func after(_ distance: Duration) -> Deadline {
    let parts = distance.components
    guard parts.seconds >= 0, parts.attoseconds >= 0 else { return .now }
    let nanoseconds = UInt64(parts.seconds).multipliedReportingOverflow(by: 1_000_000_000)
    let sum = monotonicNowNs().addingReportingOverflow(nanoseconds.partialValue)
    if nanoseconds.overflow || sum.overflow { return .never }
    return Deadline(monotonicNs: sum.partialValue &+ UInt64(parts.attoseconds) / 1_000_000_000)
  }

  public var isPast: Bool { monotonicNs <= monotonicNowNs() }
}

/// Sleeps until an absolute moment of the monotonic clock (`clock_nanosleep(2)`).
package func sleep(until deadline: Deadline) {
  var time = timespec(
    tv_sec: Int(deadline.monotonicNs / 1_000_000_000),
    tv_nsec: Int(deadline.monotonicNs % 1_000_000_000))
  while unsafe clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}
}
