import AppGroup
import Platform

/// The listener of a socket, if the kernel confirms that it may hold the role. The socket's owner
/// must be the listener.
struct FoundPresence {
  /// Nil if it accepts no connection, as a stopped process (SIGSTOP) with a full queue.
  let process: PeerProcess?
  private let endpoint: Endpoint
  private let inode: UInt64

  init?(at endpoint: Endpoint, of group: AppGroup, _ role: Role) {
    self.endpoint = endpoint
    var socketInode: UInt64 = 0
    do throws(Endpoint.ConnectError) {
      let socket = try endpoint.connect { peer, file in
        socketInode = file.inode
        return peer.uid == file.ownerID
          && group.roles(uid: peer.uid, gid: peer.gid).contains(role)
      }
      guard let found = try? PeerProcess(of: socket), !found.hasEnded else { return nil }
      process = found
    } catch {
      guard case .busy(let file) = error,
        group.roles(uid: file.ownerID, gid: file.groupID).contains(role)
      else { return nil }
      socketInode = file.inode
      process = nil
    }
    inode = socketInode
  }

  /// Whether the process still holds the role. Does not connect, to avoid filling the queue of a
  /// stopped process.
  var isThere: Bool {
    guard let process, !process.hasEnded,
      let directory = try? Directory(path: endpoint.directoryPath)
    else { return false }
    return (try? directory.status(of: endpoint.socketName))??.inode == inode
  }
}
