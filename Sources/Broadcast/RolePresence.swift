import AppGroup
import FrameBus
import Platform
import Synchronization

/// That this process is a role of the group's broadcast, and the only one: a lock that goes with
/// the process, and a socket by which others get hold of it through the kernel
/// (`SO_PEERPIDFD`), never by a number in a file.
final class RolePresence: Sendable {
  private let held: Mutex<FileLock?>
  private let ended: StopSignal
  private let directory: Directory
  private let socketName: String

  /// How long the predecessor's lock may outlive it.
  private static let patience = Duration.seconds(2)

  /// - Returns: nil while another process is that role.
  init?(_ role: Role, in group: AppGroup, waiting: Bool = false) throws(BroadcastError) {
    let paths = PresencePaths(role)
    do throws(SystemError) {
      let directory = try Directory(path: group.mailboxesPath)
      let lock = try FileLock.take(
        paths.lock, in: directory, ownerID: currentUserID(),
        until: waiting ? .after(Self.patience) : .now)
      guard let lock else { return nil }
      let socket = try ListeningSocket(
        at: directory.reachablePath(of: paths.socket), mode: 0o666)
      let ended = try StopSignal()
      let number = socket.descriptor.number
      let keeper = SocketKeeper(socket)
      try startThread(named: "presence") {
        while let ready = try? waitUntilReadable([number, ended.descriptorNumber], until: .never),
          !ready[1]
        {
          // Who connects learns who is here from the kernel; there is nothing to say.
          keeper.turnAway()
        }
      }
      held = Mutex(consume lock)
      self.ended = ended
      self.directory = directory
      socketName = paths.socket
    } catch { throw .system(error) }
  }

  /// Ends it at once. Its last reference does the same.
  func end() {
    held.withLock { lock in
      // Before the lock: afterwards the socket may be another's.
      if lock != nil { try? directory.removeFile(socketName) }
      lock = nil
    }
    ended.raise()
  }

  deinit { end() }

  /// The process that is a role now; nil if none is.
  static func process(of role: Role, in group: AppGroup) -> PeerProcess? {
    let name = PresencePaths(role).socket
    guard let directory = try? Directory(path: group.mailboxesPath) else { return nil }
    return PeerProcess.listening(at: directory.reachablePath(of: name), in: group, role)
  }

  /// The process that publishes a stream now; nil if none does.
  static func publisher(of stream: StreamName, in group: AppGroup) -> PeerProcess? {
    guard let directory = try? Directory(path: group.streamsPath) else { return nil }
    let path = directory.reachablePath(of: "\(stream).sock")
    return PeerProcess.listening(at: path, in: group, .capture)
  }
}

/// What a role's lock and socket are called. No mailbox can have such names.
private struct PresencePaths {
  let lock: String
  let socket: String

  init(_ role: Role) {
    lock = ".broadcast-\(role).lock"
    socket = ".broadcast-\(role).sock"
  }
}

/// Keeps a listening socket open for as long as a thread serves it.
private final class SocketKeeper: Sendable {
  private let socket: ListeningSocket

  init(_ socket: consuming ListeningSocket) { self.socket = socket }

  func turnAway() { _ = try? socket.accept() }
}

extension PeerProcess {
  /// Whoever listens at a path, if the kernel says that it may hold the role.
  fileprivate static func listening(
    at path: String, in group: AppGroup, _ role: Role
  ) -> PeerProcess? {
    guard let socket = try? MessageSocket.connect(to: path), let process = PeerProcess(of: socket),
      group.roles(uid: process.credentials.uid, gid: process.credentials.gid).contains(role),
      !process.hasEnded
    else { return nil }
    return process
  }
}
