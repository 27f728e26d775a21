import CLinuxShims
import Glibc

/// Waits until one of the descriptors is readable or hung up, or the deadline passes (`ppoll(2)`).
/// - Parameter descriptors: numbers that stay open during the call; at most 8.
/// - Returns: the index of the first ready descriptor, nil when the deadline passed.
package func firstReadable(
  _ descriptors: Int32..., until deadline: Deadline
) throws(SystemError) -> Int? {
  let index = try retryingInterrupts("ppoll") {
    // SAFETY: the array outlives the call, which only reads it.
    unsafe linux_wait_readable(descriptors, UInt32(descriptors.count), deadline.monotonicNs)
  }
  return Int(index) < descriptors.count ? Int(index) : nil
}

/// Shuts down a socket in both directions, even while other threads use it (`shutdown(2)`).
/// The descriptor stays open.
package func hangUp(_ number: Int32) { _ = shutdown(number, Int32(SHUT_RDWR)) }
