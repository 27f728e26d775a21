import AppGroup
import FrameBus
import Platform
import Synchronization

/// Makes this process the only holder of a role in the group's broadcast. A lock is released when
/// the process exits; a socket lets others identify the process through the kernel
/// (`SO_PEERPIDFD`) instead of by a number in a file.
///
/// Each user has separate files, because no user can remove what another left behind.
final class RolePresence: Sendable {
  private let held: Mutex<FileLock?>
  private let ended: StopSignal
  private let directory: Directory
  private let socketName: String

  /// How long to wait for the lock of a predecessor.
  private static let lockTimeout = Duration.seconds(2)
  private static let pollInterval = Duration.milliseconds(20)

  /// - Returns: nil while another process holds the role. If processes of two users start at the
  ///   same moment, both may get nil.
  init?(_ role: Role, in group: AppGroup, waiting: Bool = false) throws(BroadcastError) {
    let paths = PresencePaths(role, of: currentUserID())
    let deadline = waiting ? Deadline.after(Self.lockTimeout) : .now
    do throws(SystemError) {
      let directory = try Directory(path: group.mailboxesPath)
      let lock = try FileLock.take(
        paths.lock, in: directory, ownerID: currentUserID(), until: deadline)
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
          // Connecting identifies this process through the kernel; no data is exchanged.
          keeper.rejectNext()
        }
      }
      held = Mutex(consume lock)
      self.ended = ended
      self.directory = directory
      socketName = paths.socket
    } catch { throw .system(error) }
    // Checked after the socket exists, so that two starting processes cannot miss each other.
    while Self.find(role, in: group, excluding: socketName) != nil {
      if deadline.isPast { return nil }
      sleep(until: .after(Self.pollInterval))
    }
  }

  /// Gives up the role at once. Releasing the last reference does the same.
  func end() {
    held.withLock { lock in
      // Before the lock is released: after that, the socket may be another process's.
      if lock != nil { try? directory.removeFile(socketName) }
      lock = nil
    }
    ended.raise()
  }

  deinit { end() }

  /// The current host or extension; nil if nobody holds the role.
  static func process(of role: Role, in group: AppGroup) -> PeerProcess? {
    find(role, in: group)?.process
  }

  /// Finds the current host or extension, including a process that is stopped and does not accept.
  static func find(
    _ role: Role, in group: AppGroup, excluding ownSocket: String? = nil
  ) -> FoundPresence? {
    guard let directory = try? Directory(path: group.mailboxesPath),
      let names = try? directory.names()
    else { return nil }
    for name in names where PresencePaths.isSocket(name, of: role) && name != ownSocket {
      if let found = FoundPresence(at: name, in: directory, of: group, role) { return found }
    }
    return nil
  }

  /// The process that publishes a stream for a session; nil if none does, or another session's.
  static func capture(
    of session: SessionID, publishing stream: StreamName, in group: AppGroup
  ) -> PeerProcess? {
    guard let directory = try? Directory(path: group.streamsPath),
      let found = FoundPresence(
        at: "\(stream)\(socketSuffix)", in: directory, of: group, .capture)?.process
    else { return nil }
    return SessionID(ofCapture: found) == session ? found : nil
  }

  /// The publisher of each stream, in a session or not. A process may publish several streams.
  static func publishers(in group: AppGroup) -> [StreamName: PeerProcess] {
    guard let directory = try? Directory(path: group.streamsPath),
      let names = try? directory.names()
    else { return [:] }
    var found: [StreamName: PeerProcess] = [:]
    for name in names where name.hasSuffix(socketSuffix) {
      guard let stream = try? StreamName(String(name.dropLast(socketSuffix.count)))
      else { continue }
      found[stream] = FoundPresence(at: name, in: directory, of: group, .capture)?.process
    }
    return found
  }

  /// The publishers that belong to any session.
  static func captures(in group: AppGroup) -> [PeerProcess] {
    let processes = publishers(in: group).values.map { ($0.credentials.pid, $0) }
    return Dictionary(processes) { first, _ in first }.values
      .filter { SessionID(ofCapture: $0) != nil }
  }
}

/// The suffix of the sockets of roles and streams.
private let socketSuffix = ".sock"

/// The names of a user's lock and socket for a role. No mailbox can have such a name.
private struct PresencePaths {
  let lock: String
  let socket: String

  init(_ role: Role, of uid: UInt32) {
    lock = "\(Self.prefix(role))\(uid).lock"
    socket = "\(Self.prefix(role))\(uid)\(socketSuffix)"
  }

  static func isSocket(_ name: String, of role: Role) -> Bool {
    name.hasPrefix(prefix(role)) && name.hasSuffix(socketSuffix)
  }

  private static func prefix(_ role: Role) -> String { ".broadcast-\(role)." }
}

/// Keeps a listening socket open for as long as a thread serves it.
private final class SocketKeeper: Sendable {
  private let socket: ListeningSocket

  init(_ socket: consuming ListeningSocket) { self.socket = socket }

  func rejectNext() { _ = try? socket.accept() }
}
