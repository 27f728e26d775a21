import AppGroup
import Platform

/// The mark of a screen's or window's stream that a subscriber can see: an empty file `NAME.seen`
/// beside the stream's socket. It exists from before the first subscriber receives memory until the
/// last one has left.
///
/// It counts only while a process of its owner answers at that socket, so the death of the
/// publisher ends it at once, without cleanup by any process.
final class CapturedMark: Sendable {
  private static let suffix = ".seen"

  private let directory: Directory
  private let name: String

  init(of stream: StreamName, in group: AppGroup) throws(SystemError) {
    directory = try Directory(path: group.streamsPath)
    name = stream.text + Self.suffix
  }

  func set() throws(SystemError) { try directory.makeEmptyFile(name) }

  func remove() { try? directory.removeFile(name) }

  /// Removes the mark of a publisher of this name that was killed. Call it with the lock on the
  /// stream's name held, and before the socket exists: then no mark ever counts for a successor.
  static func removeLeftover(of stream: StreamName, in group: AppGroup) {
    guard let mark = try? CapturedMark(of: stream, in: group) else { return }
    mark.remove()
  }

  /// A running publisher whose mark exists.
  struct Publisher {
    /// Nil if it cannot be watched: it accepts no connection, or this process has no descriptor
    /// left.
    let process: PeerProcess?
  }

  /// The publishers of a group whose screens or windows a subscriber can see.
  static func publishers(in group: AppGroup) throws(SystemError) -> [Publisher] {
    let directory = try Directory(path: group.streamsPath)
    var found: [Publisher] = []
    for name in try directory.names() where name.hasSuffix(suffix) {
      guard let stream = try? StreamName(String(name.dropLast(suffix.count))),
        let mark = try directory.status(of: name), mark.kind == .file,
        let publisher = publisher(of: stream, in: group, ownerID: mark.ownerID),
        // A successor has removed the mark: then it was not that of the process that answered.
        try directory.status(of: name)?.inode == mark.inode
      else { continue }
      found.append(publisher)
    }
    return found
  }

  /// Connecting is enough: a stopped publisher does not answer a query, but is still seen.
  private static func publisher(
    of stream: StreamName, in group: AppGroup, ownerID: UInt32
  ) -> Publisher? {
    do throws(Endpoint.ConnectError) {
      let socket = try group.endpoint(of: stream).connect { peer, _ in
        peer.uid == ownerID && group.admits(uid: peer.uid, gid: peer.gid)
      }
      let process = PeerProcess(of: socket)
      return process?.hasEnded == true ? nil : Publisher(process: process)
    } catch {
      switch error {
      case .busy(let file): return file.ownerID == ownerID ? Publisher(process: nil) : nil
      // Such as no descriptor left: nothing shows that nobody sees the screen.
      case .failed: return Publisher(process: nil)
      case .absent, .notSocket, .notAdmitted, .notAllowed: return nil
      }
    }
  }
}
