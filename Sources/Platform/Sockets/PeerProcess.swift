import CLinuxShims
import Glibc

/// The process at the other end of a socket, referred to by its pidfd: a signal can never reach
/// another process that got the same PID.
package final class PeerProcess: Sendable {
  /// Credentials from the kernel; `pid` is only for display.
  package let credentials: PeerCredentials
  private let pidfd: SharedDescriptor
  /// Whether signals go to the whole process group that the process leads.
  private let leadsGroup: Bool

  /// Returns nil if the process has ended and nothing is left of it. Throws if it cannot be
  /// watched, such as for lack of descriptors.
  package init?(of socket: borrowing MessageSocket) throws(SystemError) {
    let credentials = try socket.peer()
    guard let pidfd = try socket.peerProcess() else { return nil }
    self.credentials = credentials
    self.pidfd = pidfd
    leadsGroup = false
  }

  /// Returns nil if no such process runs. The caller must verify its identity afterwards, because
  /// the PID may have been reused.
  private init?(leader processID: Int32) {
    let number = linux_pidfd_open(processID)
    guard number >= 0 else { return nil }
    pidfd = SharedDescriptor(owning: number)
    leadsGroup = true
    guard let status = try? Directory(path: "/proc/\(processID)").status() else { return nil }
    credentials = PeerCredentials(pid: processID, uid: status.ownerID, gid: status.groupID)
  }

  /// Process group leaders that were started with this environment, except those of other users,
  /// which this process may not inspect. A signal to one goes to its whole group.
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
    // The preceding field is the name, which may contain any characters.
    let state = fields[(fields.lastIndex(of: ")") ?? fields.startIndex)...].dropFirst(2).first
    return (state == "T" || state == "t") && !hasEnded
  }

  /// Readable once the process has ended, for `poll(2)` loops.
  package var descriptorNumber: Int32 { pidfd.number }

  package var hasEnded: Bool {
    (try? waitUntilReadable([pidfd.number], until: .now)) == [true]
  }

  /// Its command line, which the process itself can change. Empty once it has ended.
  package var commandLine: [String] { words(of: "cmdline") }

  private func words(of file: String) -> [String] {
    let words = kernelText("/proc/\(credentials.pid)/\(file)").split(separator: "\0")
    // While it runs, its PID is not reused.
    return hasEnded ? [] : words.map(String.init)
  }

  /// The result of sending a signal.
  package enum Sending: Hashable, Sendable {
    case sent
    /// The process has ended.
    case gone
    /// The process belongs to another user, so this user may not signal it.
    case refused
  }

  /// The signal is queued, so that ``SignalWatcher`` does not treat it as a user's second signal.
  @discardableResult
  package func send(signal: Int32) -> Sending {
    if linux_pidfd_queue_signal(pidfd.number, signal, leadsGroup) == 0 { return .sent }
    return errno == EPERM ? .refused : .gone
  }

  /// Returns whether the process ended before the deadline.
  package func waitForEnd(until deadline: Deadline) -> Bool {
    (try? waitUntilReadable([pidfd.number], until: deadline)) == [true]
  }
}
