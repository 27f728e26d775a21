import AppGroup
import FrameBus
import Platform

/// Makes this process the only holder of a role in the group's broadcast. A lock is released when
/// the process exits; a socket lets others identify the process through the kernel
/// (`SO_PEERPIDFD`) instead of by a number in a file.
///
/// Each user has separate files, because no user can remove what another left behind.
final class RolePresence: Sendable {
  private let listener: EndpointListener
  private let ended: StopSignal

  /// How long to wait for the lock of a predecessor.
  private static let lockTimeout = Duration.seconds(2)
  private static let pollInterval = Duration.milliseconds(20)

  /// - Returns: nil while another process holds the role. If processes of two users start at the
  ///   same moment, both may get nil.
  init?(_ role: Role, in group: AppGroup, waiting: Bool = false) throws(BroadcastError) {
    let own = Endpoint("\(Self.prefix(role))\(currentUserID())", in: group.mailboxesPath)
    let deadline = waiting ? Deadline.after(Self.lockTimeout) : .now
    do throws(Endpoint.ListenError) {
      listener = try own.listen(until: deadline)
    } catch {
      switch error {
      case .taken: return nil
      case .inTheWay(let found):
        throw .untrusted(
          path: found.path, why: "it is a \(found.kind.rawValue) of user \(found.ownerID)")
      case .failed(let error): throw .system(error)
      }
    }
    do throws(SystemError) {
      let ended = try StopSignal()
      try startThread(named: "presence") { [listener] in
        while let ready = try? waitUntilReadable(
          [listener.number, ended.descriptorNumber], until: .never), !ready[1]
        {
          // Connecting identifies this process through the kernel; no data is exchanged.
          _ = try? listener.accept()
        }
      }
      self.ended = ended
    } catch { throw .system(error) }
    // Checked after the socket exists, so that two starting processes cannot miss each other.
    while Self.find(role, in: group, excluding: own.name) != nil {
      if deadline.isPast { return nil }
      sleep(until: .after(Self.pollInterval))
    }
  }

  /// Gives up the role at once. Releasing the last reference does the same.
  func end() {
    listener.end()
    ended.raise()
  }

  deinit { end() }

  /// The current host or extension; nil if nobody holds the role.
  static func process(of role: Role, in group: AppGroup) -> PeerProcess? {
    find(role, in: group)?.process
  }

  /// Finds the current host or extension, including a process that is stopped and does not accept.
  static func find(
    _ role: Role, in group: AppGroup, excluding ownName: String? = nil
  ) -> FoundPresence? {
    for name in names(in: group.mailboxesPath)
    where name.hasPrefix(prefix(role)) && name != ownName {
      let endpoint = Endpoint(name, in: group.mailboxesPath)
      if let found = FoundPresence(at: endpoint, of: group, role) { return found }
    }
    return nil
  }

  /// The process that publishes a stream for a session; nil if none does, or another session's.
  static func capture(
    of session: SessionID, publishing stream: StreamName, in group: AppGroup
  ) -> PeerProcess? {
    guard let found = publisher(of: stream, in: group) else { return nil }
    return SessionID(ofCapture: found) == session ? found : nil
  }

  /// The publisher of each stream, in a session or not. A process may publish several streams.
  static func publishers(in group: AppGroup) -> [StreamName: PeerProcess] {
    var found: [StreamName: PeerProcess] = [:]
    for name in names(in: group.streamsPath) {
      guard let stream = try? StreamName(name) else { continue }
      found[stream] = publisher(of: stream, in: group)
    }
    return found
  }

  static func publisher(of stream: StreamName, in group: AppGroup) -> PeerProcess? {
    FoundPresence(at: group.endpoint(of: stream), of: group, .capture)?.process
  }

  private static func names(in path: String) -> [String] {
    guard let directory = try? Directory(path: path) else { return [] }
    return (try? Endpoint.names(in: directory)) ?? []
  }

  /// The publishers that belong to any session.
  static func captures(in group: AppGroup) -> [PeerProcess] {
    let processes = publishers(in: group).values.map { ($0.credentials.pid, $0) }
    return Dictionary(processes) { first, _ in first }.values
      .filter { SessionID(ofCapture: $0) != nil }
  }

  /// What the names of a role's endpoints begin with, one of each user. No mailbox can have such a
  /// name.
  private static func prefix(_ role: Role) -> String { ".broadcast-\(role)." }
}
