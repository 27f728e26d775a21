import CLinuxShims
import Glibc

/// `CLOCK_MONOTONIC` in nanoseconds: the one clock of frames, deadlines and statistics.
public func monotonicNowNs() -> UInt64 { clockNs(CLOCK_MONOTONIC) }

/// `CLOCK_MONOTONIC_COARSE` in nanoseconds: the same clock at its last tick, up to 1…10 ms ago, at
/// a third of the cost.
package func coarseNowNs() -> UInt64 { linux_coarse_clock_ns() }

/// `CLOCK_REALTIME` in nanoseconds since 1970.
package func wallNowNs() -> UInt64 { clockNs(CLOCK_REALTIME) }

/// Formats a time in ISO 8601, in UTC: `gmtime_r(3)`.
/// - Parameter seconds: since 1970.
package func utcText(seconds: Int64) -> String {
  var seconds = time_t(seconds)
  var time = unsafe tm()
  return unsafe String(unsafeUninitializedCapacity: 64) { buffer in
    // SAFETY: the calls write the structure, and at most the capacity of the buffer.
    guard unsafe gmtime_r(&seconds, &time) != nil else { return 0 }
    return unsafe buffer.withMemoryRebound(to: CChar.self) {
      unsafe strftime($0.baseAddress!, $0.count, "%FT%TZ", &time)
    }
  }
}

private func clockNs(_ clock: clockid_t) -> UInt64 {
  var time = timespec()
  unsafe clock_gettime(clock, &time)
  return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
}

/// A time of the monotonic clock at which a wait ends.
public struct Deadline: Hashable, Comparable, Sendable {
  /// Nanoseconds of `CLOCK_MONOTONIC`; `UInt64.max` for never.
  public let monotonicNs: UInt64

  public init(monotonicNs: UInt64) { self.monotonicNs = monotonicNs }

  public static func < (left: Self, right: Self) -> Bool { left.monotonicNs < right.monotonicNs }

  public static let never = Deadline(monotonicNs: .max)
  /// Already past: a wait with this deadline only polls.
  public static let now = Deadline(monotonicNs: 0)

  /// The deadline after a distance from now. A negative distance means now.
  public static func after(_ distance: Duration) -> Deadline {
    distance < .zero ? .now : .afterNs(distance.clampedNanoseconds)
  }

  /// Like `after`, in nanoseconds.
  package static func afterNs(_ distanceNs: UInt64) -> Deadline {
    let sum = monotonicNowNs().addingReportingOverflow(distanceNs)
    return sum.overflow ? .never : Deadline(monotonicNs: sum.partialValue)
  }

  public var isPast: Bool { self != .never && monotonicNs <= monotonicNowNs() }
}

extension Duration {
  /// Whole nanoseconds, clamped to the range of `UInt64`.
  package var clampedNanoseconds: UInt64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let whole = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
    let sum = whole.partialValue.addingReportingOverflow(UInt64(attoseconds) / 1_000_000_000)
    return whole.overflow || sum.overflow ? .max : sum.partialValue
  }
}

/// Sleeps until an absolute time of the monotonic clock (`clock_nanosleep(2)`).
package func sleep(until deadline: Deadline) {
  var time = timespec(
    tv_sec: Int(deadline.monotonicNs / 1_000_000_000),
    tv_nsec: Int(deadline.monotonicNs % 1_000_000_000))
  while unsafe clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}
}
