import CLinuxShims
import Glibc

/// A descriptor that is readable from a moment of the monotonic clock on: `timerfd_create(2)`.
package final class TimerDescriptor: Sendable {
  private let descriptor: Descriptor

  package init() throws(SystemError) {
    descriptor = Descriptor(
      owning: try retryingInterrupts("timerfd_create") {
        timerfd_create(CLOCK_MONOTONIC, Int32(TFD_CLOEXEC | TFD_NONBLOCK))
      })
  }

  package var number: Int32 { descriptor.number }

  /// Sets the moment, in place of any other: until then it is not readable, nor ever at `.never`.
  package func set(_ deadline: Deadline) {
    var time = itimerspec()
    if deadline != .never {
      // Zero would be never.
      let ns = max(deadline.monotonicNs, 1)
      time.it_value = timespec(tv_sec: Int(ns / 1_000_000_000), tv_nsec: Int(ns % 1_000_000_000))
    }
    unsafe timerfd_settime(descriptor.number, Int32(TFD_TIMER_ABSTIME), &time, nil)
  }

  /// A timer that is readable every so often.
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
