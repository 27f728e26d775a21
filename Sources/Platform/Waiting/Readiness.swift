import Glibc

/// Waits until one of the descriptors is readable or hung up (`poll(2)`), or the deadline passes.
/// - Returns: for each descriptor, in order, whether it is ready; all false after the deadline.
package func waitUntilReadable(
  _ descriptors: [Int32], until deadline: Deadline
) throws(SystemError) -> [Bool] {
  try waitUntilReady(descriptors.map { ($0, .readable) }, until: deadline).map { !$0.isEmpty }
}

/// Waits until one of the descriptors is ready for its events or hung up, or the deadline passes.
/// - Returns: for each descriptor, in order, what happened; all empty after the deadline.
package func waitUntilReady(
  _ descriptors: [(number: Int32, events: EventLoop.Events)], until deadline: Deadline
) throws(SystemError) -> [EventLoop.Events] {
  // poll(2) and epoll(7) use the same bits.
  var polled = descriptors.map {
    pollfd(fd: $0.number, events: Int16(truncatingIfNeeded: $0.events.rawValue), revents: 0)
  }
  while true {
    // Rounded up, because a wait that ends early would only be repeated.
    let now = monotonicNowNs()
    let leftMs = deadline.monotonicNs > now ? (deadline.monotonicNs - now) / 1_000_000 + 1 : 0
    let slice = Int32(min(leftMs, 3_600_000))
    // SAFETY: poll writes only within the array, for the duration of the call.
    let count = unsafe polled.withUnsafeMutableBufferPointer {
      unsafe poll($0.baseAddress, nfds_t($0.count), slice)
    }
    if count > 0 || (count == 0 && deadline.isPast) {
      return polled.map { EventLoop.Events(rawValue: UInt32(UInt16(bitPattern: $0.revents))) }
    }
    if count < 0, errno != EINTR { throw .last("poll") }
  }
}
