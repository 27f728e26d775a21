import CLinuxShims
import Glibc

/// A set of descriptors with one descriptor to wait for all of them: `epoll(7)`.
package final class ReadySet: Sendable {
  private let epoll: Descriptor

  package init() throws(SystemError) {
    epoll = Descriptor(
      owning: try retryingInterrupts("epoll_create1") { epoll_create1(O_CLOEXEC) })
  }

  /// Readable while a member is readable or hung up.
  package var number: Int32 { epoll.number }

  /// Adds a descriptor. The caller owns it, and removes it from the set before closing it.
  package func add(_ descriptor: Int32, tag: UInt64 = 0) throws(SystemError) {
    // SAFETY: epoll_event counts as unsafe for its union, of which only u64 is ever used.
    var event = unsafe epoll_event()
    unsafe event.events = EPOLLIN.rawValue
    unsafe event.data.u64 = tag
    let number = epoll.number
    _ = try retryingInterrupts("epoll_ctl") {
      unsafe epoll_ctl(number, EPOLL_CTL_ADD, descriptor, &event)
    }
  }

  package func remove(_ descriptor: Int32) {
    epoll_ctl(epoll.number, EPOLL_CTL_DEL, descriptor, nil)
  }

  /// Waits until members are ready, or the deadline passes, and reports the tags of some of them;
  /// the next wait reports the others. May return early.
  package func wait(until deadline: Deadline, _ body: (_ tag: UInt64) -> Void) {
    var events = unsafe InlineArray<16, epoll_event>(repeating: epoll_event())
    var span = unsafe events.mutableSpan
    // SAFETY: at most as many events are written as the array has, and only those are read.
    unsafe span.withUnsafeMutableBufferPointer { events in
      guard let first = events.baseAddress else { return }
      let count = unsafe epoll_wait(
        epoll.number, first, Int32(events.count), deadline.milliseconds)
      for index in 0..<max(0, Int(count)) { unsafe body(events[index].data.u64) }
    }
  }
}

extension Deadline {
  /// The remaining time, rounded up, for `poll(2)` and `epoll_wait(2)`: −1 for no timeout.
  var milliseconds: Int32 {
    guard self != .never else { return -1 }
    let now = monotonicNowNs()
    return monotonicNs > now ? Int32(clamping: (monotonicNs - now) / 1_000_000 + 1) : 0
  }
}
