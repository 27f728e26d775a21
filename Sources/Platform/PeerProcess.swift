import CLinuxShims
import Glibc

/// The process at the other end of a socket, held by its pidfd: a signal can never reach a stranger
/// that got the same number.
package final class PeerProcess: Sendable {
  /// The kernel's word; its `pid` is for people to read.
  package let credentials: PeerCredentials
  private let pidfd: SharedDescriptor

  /// - Returns: nil if it has gone.
  package init?(of socket: borrowing MessageSocket) {
    guard let credentials = try? socket.peer(), let pidfd = socket.peerProcess() else { return nil }
    self.credentials = credentials
    self.pidfd = pidfd
  }

  /// Readable once the process has ended, for `poll(2)` loops.
  package var descriptorNumber: Int32 { pidfd.number }

  package var hasEnded: Bool {
    (try? waitUntilReadable([pidfd.number], until: .now)) == [true]
  }

  /// The words that it was started with, as it shows them: its own to change. Empty once it has
  /// gone.
  package var commandLine: [String] {
    let words = kernelText("/proc/\(credentials.pid)/cmdline").split(separator: "\0")
    // While it lives, its number is no other's.
    return hasEnded ? [] : words.map(String.init)
  }

  /// What became of a signal.
  package enum Sending: Hashable, Sendable {
    case sent
    /// There is nobody left to send one to.
    case gone
    /// It is another user's process, which nobody but that user may end.
    case refused
  }

  @discardableResult
  package func send(signal: Int32) -> Sending {
    if linux_pidfd_send_signal(pidfd.number, signal) == 0 { return .sent }
    return errno == EPERM ? .refused : .gone
  }

  /// Whether it ended before the deadline.
  package func waitForEnd(until deadline: Deadline) -> Bool {
    (try? waitUntilReadable([pidfd.number], until: deadline)) == [true]
  }
}
