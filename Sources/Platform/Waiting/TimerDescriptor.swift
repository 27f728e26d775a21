import CLinuxShims
import Glibc

/// A descriptor that becomes readable at a deadline: `timerfd_create(2)`.
package final class TimerDescriptor: Sendable {
  private let descriptor: Descriptor

  package init() throws(SystemError) {
    descriptor = Descriptor(
      owning: try retryingInterrupts("timerfd_create") {
        timerfd_create(CLOCK_MONOTONIC, Int32(TFD_CLOEXEC | TFD_NONBLOCK))
      })
  }

  package var number: Int32 { descriptor.number }

  /// Replaces the deadline. The descriptor is not readable before it, and never for `.never`.
  package func set(_ deadline: Deadline) {
    var time = itimerspec()
    if deadline != .never {
      // Zero would disarm the timer.
      let ns = max(deadline.monotonicNs, 1)
      time.it_value = timespec(tv_sec: Int(ns / 1_000_000_000), tv_nsec: Int(ns % 1_000_000_000))
    }
    unsafe timerfd_settime(descriptor.number, Int32(TFD_TIMER_ABSTIME), &time, nil)
  }

  /// A timer that becomes readable at each interval.
  static func ticks(every interval: Duration) throws(SystemError) -> Descriptor {
    let timer = Descriptor(
      owning: try retryingInterrupts("timerfd_create") {
        timerfd_create(CLOCK_MONOTONIC, Int32(TFD_CLOEXEC | TFD_NONBLOCK))
      })
    let ns = interval.clampedNanoseconds
    let time = timespec(tv_sec: Int(ns / 1_000_000_000), tv_nsec: Int(ns % 1_000_000_000))
    var setting = itimerspec(it_interval: time, it_value: time)
    let number = timer.number
    _ = try retryingInterrupts("timerfd_settime") {
      // SAFETY: the kernel reads the structure during the call only.
      unsafe timerfd_settime(number, 0, &setting, nil)
    }
    return timer
  }
}
