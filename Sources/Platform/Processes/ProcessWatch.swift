import CLinuxShims
import Glibc

/// Watches a process that this one did not start, by a pidfd: unlike a PID, a pidfd never refers to
/// another process.
package struct ProcessWatch: ~Copyable, Sendable {
  private let pidfd: Descriptor

  /// Returns nil if no such process runs.
  package init?(_ processID: Int32) {
    let number = linux_pidfd_open(processID)
    guard number >= 0 else { return nil }
    pidfd = Descriptor(owning: number)
  }

  /// Readable once the process has ended, for `poll(2)` loops.
  package var descriptorNumber: Int32 { pidfd.number }

  package borrowing func send(signal: Int32) {
    _ = linux_pidfd_send_signal(pidfd.number, signal)
  }

  /// Returns whether the process ended before the deadline.
  package borrowing func waitForEnd(until deadline: Deadline) throws(SystemError) -> Bool {
    try waitUntilReadable([pidfd.number], until: deadline)[0]
  }
}
