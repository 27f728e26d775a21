import CLinuxShims
import Glibc

/// The process at the other end of a socket, held by its pidfd: a signal can never reach a stranger
/// that got the same number.
package final class PeerProcess: Sendable {
  /// The kernel's word; its `pid` is for people to read.
  package let credentials: PeerCredentials
  private let pidfd: SharedDescriptor
  /// Whether a signal to it goes to the whole process group that it leads.
  private let leadsGroup: Bool

  /// - Returns: nil if it has gone.
  package init?(of socket: borrowing MessageSocket) {
    guard let credentials = try? socket.peer(), let pidfd = socket.peerProcess() else { return nil }
    self.credentials = credentials
    self.pidfd = pidfd
    leadsGroup = false
  }

  /// - Returns: nil if no such process runs. Who it is has to be asked of what it holds: the number
  ///   may be another's by now.
  private init?(leader processID: Int32) {
    let number = linux_pidfd_open(processID)
    guard number >= 0 else { return nil }
    pidfd = SharedDescriptor(owning: number)
    leadsGroup = true
    guard let status = try? Directory(path: "/proc/\(processID)").status() else { return nil }
    credentials = PeerCredentials(pid: processID, uid: status.ownerID, gid: status.groupID)
  }

  /// Who leads a process group and was started with such an environment, as far as this process may
  /// know: what is another user's it may not. A signal to one goes to its whole group.
  package static func leaders(
    startedWith isWanted: (_ environment: [String]) -> Bool
  ) -> [PeerProcess] {
    let names = (try? Directory(path: "/proc").names()) ?? []
    return names.compactMap { Int32($0) }.compactMap { processID in
      guard getpgid(processID) == processID, let process = PeerProcess(leader: processID),
        isWanted(process.words(of: "environ"))
      else { return nil }
      return process
    }
  }

  /// Whether it is stopped, as by Ctrl-Z (`proc_pid_stat(5)`).
  package var isStopped: Bool {
    let fields = kernelText("/proc/\(credentials.pid)/stat")
    // What comes before is a name that may hold anything.
    let state = fields[(fields.lastIndex(of: ")") ?? fields.startIndex)...].dropFirst(2).first
    return (state == "T" || state == "t") && !hasEnded
  }

  /// Readable once the process has ended, for `poll(2)` loops.
  package var descriptorNumber: Int32 { pidfd.number }

  package var hasEnded: Bool {
    (try? waitUntilReadable([pidfd.number], until: .now)) == [true]
  }

  /// The words that it was started with, as it shows them: its own to change. Empty once it has
  /// gone.
  package var commandLine: [String] { words(of: "cmdline") }

  private func words(of file: String) -> [String] {
    let words = kernelText("/proc/\(credentials.pid)/\(file)").split(separator: "\0")
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

  /// It is queued, so that ``SignalWatcher`` does not take it for a person's impatience.
  @discardableResult
  package func send(signal: Int32) -> Sending {
    if linux_pidfd_queue_signal(pidfd.number, signal, leadsGroup) == 0 { return .sent }
    return errno == EPERM ? .refused : .gone
  }

  /// Whether it ended before the deadline.
  package func waitForEnd(until deadline: Deadline) -> Bool {
    (try? waitUntilReadable([pidfd.number], until: deadline)) == [true]
  }
}
