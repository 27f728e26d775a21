import AppGroup
import Platform
import Synchronization

/// The mark of a screen's or window's stream that a subscriber can see: an empty file
/// `NAME.seen-RANDOM` beside the stream's socket. It exists from before the first subscriber
/// receives memory until the last one has left.
///
/// It counts only while a process of its owner answers at that socket, so the death of the
/// publisher ends it at once, without cleanup by any process. Its name is a new one each time:
/// every member who may publish can create files here, and a mark under a known name could be
/// another user's, who removes it at any time.
final class CapturedMark: Sendable {
  private static let infix = ".seen-"

  private let directory: Directory
  private let stream: StreamName
  private let name = Mutex<String?>(nil)

  init(of stream: StreamName, in group: AppGroup) throws(SystemError) {
    directory = try Directory(path: group.streamsPath)
    self.stream = stream
  }

  func set() throws(SystemError) {
    try name.withLock { name throws(SystemError) in
      if let name, try directory.status(of: name)?.ownerID == currentUserID() { return }
      let new = temporaryName(prefix: stream.text + Self.infix)
      try directory.makeEmptyFile(new)
      name = new
    }
  }

  func remove() {
    name.withLock { name in
      if let name { try? directory.removeFile(name) }
      name = nil
    }
  }

  /// Removes the marks of publishers of this name that were killed. Call it with the lock on the
  /// stream's name held, and before the socket exists: then no mark ever counts for a successor.
  static func removeLeftovers(of stream: StreamName, in group: AppGroup) {
    guard let directory = try? Directory(path: group.streamsPath) else { return }
    for name in (try? directory.names()) ?? [] where Self.stream(markedBy: name) == stream {
      try? directory.removeFile(name)
    }
  }

  /// The stream whose mark has this name; nil for another file.
  private static func stream(markedBy name: String) -> StreamName? {
    // What is random has no dash, as in `temporaryName`.
    guard let dash = name.lastIndex(of: "-"), name[...dash].hasSuffix(infix),
      name[dash...].dropFirst().utf8.allSatisfy({ 0x30...0x39 ~= $0 || 0x61...0x7A ~= $0 })
    else { return nil }
    return try? StreamName(String(name[...dash].dropLast(infix.count)))
  }

  /// A running publisher whose mark exists.
  struct Publisher {
    /// Nil if it cannot be watched: it accepts no connection, or this process has no descriptor
    /// left.
    let process: PeerProcess?
    fileprivate let ownerID: UInt32
  }

  /// The publishers of a group whose screens or windows a subscriber can see.
  static func publishers(in group: AppGroup) throws(SystemError) -> [Publisher] {
    let directory = try Directory(path: group.streamsPath)
    var marks: [StreamName: [String]] = [:]
    for name in try directory.names() {
      if let stream = stream(markedBy: name) { marks[stream, default: []].append(name) }
    }
    var found: [Publisher] = []
    for (stream, names) in marks {
      let endpoint = group.endpoint(of: stream)
      guard let publisher = try publisher(at: endpoint, in: directory) else { continue }
      // Looked at after it has answered: it has removed those of its predecessors by then.
      for name in names {
        guard let mark = try directory.status(of: name), mark.kind == .file,
          mark.ownerID == publisher.ownerID
        else { continue }
        found.append(publisher)
        break
      }
    }
    return found
  }

  /// Connecting is enough: a stopped publisher does not answer a query, but is still seen.
  private static func publisher(
    at endpoint: Endpoint, in directory: borrowing Directory
  ) throws(SystemError) -> Publisher? {
    do throws(Endpoint.ConnectError) {
      let socket = try endpoint.connect { peer, file in peer.uid == file.ownerID }
      let owner = try Endpoint.ConnectError.attempt(socket.peer()).uid
      return publisher(owner, at: socket)
    } catch {
      switch error {
      case .busy(let file): return Publisher(process: nil, ownerID: file.ownerID)
      // Such as no descriptor left: nothing shows that nobody sees the screen.
      case .failed:
        guard let file = try directory.status(of: endpoint.socketName), file.kind == .socket
        else { return nil }
        return Publisher(process: nil, ownerID: file.ownerID)
      case .absent, .notSocket, .notAdmitted, .notAllowed: return nil
      }
    }
  }

  /// Nil if the process has ended, even if a child of it keeps the socket.
  private static func publisher(
    _ ownerID: UInt32, at socket: borrowing MessageSocket
  ) -> Publisher? {
    do throws(SystemError) {
      guard let process = try PeerProcess(of: socket), !process.hasEnded else { return nil }
      return Publisher(process: process, ownerID: ownerID)
    } catch { return Publisher(process: nil, ownerID: ownerID) }
  }
}
