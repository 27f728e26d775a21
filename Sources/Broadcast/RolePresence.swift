import AppGroup
import FrameBus
import Platform
import Synchronization

/// That this process is a role of the group's broadcast, and the only one: a lock that goes with
/// the process, and a socket by which others get hold of it through the kernel
/// (`SO_PEERPIDFD`), never by a number in a file.
///
/// Each user has files of their own, since what one left behind, no other may remove.
final class RolePresence: Sendable {
  private let held: Mutex<FileLock?>
  private let ended: StopSignal
  private let directory: Directory
  private let socketName: String

  /// How long the predecessor's lock may outlive it.
  private static let patience = Duration.seconds(2)
  private static let lookInterval = Duration.milliseconds(20)

  /// - Returns: nil while another process is that role. Of two users' processes that begin at the
  ///   same moment, both may give way.
  init?(_ role: Role, in group: AppGroup, waiting: Bool = false) throws(BroadcastError) {
    let paths = PresencePaths(role, of: currentUserID())
    let deadline = waiting ? Deadline.after(Self.patience) : .now
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
          // Who connects learns who is here from the kernel; there is nothing to say.
          keeper.turnAway()
        }
      }
      held = Mutex(consume lock)
      self.ended = ended
      self.directory = directory
      socketName = paths.socket
    } catch { throw .system(error) }
    // Only now, when others see this one.
    while Self.find(role, in: group, besides: socketName) != nil {
      if deadline.isPast { return nil }
      sleep(until: .after(Self.lookInterval))
    }
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

  /// The host or the extension, as it is now; nil if there is none.
  static func process(of role: Role, in group: AppGroup) -> PeerProcess? {
    find(role, in: group)?.process
  }

  /// Whoever is the host or the extension, also one that answers nobody.
  static func find(
    _ role: Role, in group: AppGroup, besides ownSocket: String? = nil
  ) -> FoundPresence? {
    guard let directory = try? Directory(path: group.mailboxesPath),
      let names = try? directory.names()
    else { return nil }
    for name in names where PresencePaths.isSocket(name, of: role) && name != ownSocket {
      if let found = FoundPresence(at: name, in: directory, of: group, role) { return found }
    }
    return nil
  }

  /// The process that publishes a stream for a session; nil if none does, or somebody else's.
  static func capture(
    of session: SessionID, publishing stream: StreamName, in group: AppGroup
  ) -> PeerProcess? {
    guard let directory = try? Directory(path: group.streamsPath),
      let found = FoundPresence(
        at: "\(stream)\(socketSuffix)", in: directory, of: group, .capture)?.process
    else { return nil }
    return SessionMark.session(of: found) == session ? found : nil
  }

  /// Who publishes each stream, for a session or not; one process may have several.
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

  /// Those of them that publish for any session.
  static func captures(in group: AppGroup) -> [PeerProcess] {
    let processes = publishers(in: group).values.map { ($0.credentials.pid, $0) }
    return Dictionary(processes) { first, _ in first }.values
      .filter { SessionMark.session(of: $0) != nil }
  }
}

/// How sockets of roles and streams are called at their end.
private let socketSuffix = ".sock"

/// What a user's lock and socket for a role are called. No mailbox can have such names.
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

  func turnAway() { _ = try? socket.accept() }
}
