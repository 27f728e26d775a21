import AppGroup
import Platform

/// The listener of a socket, if the kernel confirms that it may hold the role.
///
/// In a directory that others can write, a name could be a link to an unrelated program's socket.
/// Links are not followed, and the socket's owner must be the listener.
struct FoundPresence {
  /// Nil if it accepts no connection, as a stopped process (SIGSTOP) with a full queue.
  let process: PeerProcess?
  private let directoryPath: String
  private let name: String
  private let inode: UInt64

  init?(
    at name: String, in directory: borrowing Directory, of group: AppGroup, _ role: Role
  ) {
    guard let node = try? directory.openNode(name),
      let status = try? fileStatus(of: node, path: directory.path(of: name)),
      status.kind == .socket
    else { return nil }
    directoryPath = directory.path
    self.name = name
    inode = status.inode
    do throws(SystemError) {
      let socket = try MessageSocket.connect(to: node)
      guard let found = PeerProcess(of: socket), found.credentials.uid == status.ownerID,
        group.roles(uid: found.credentials.uid, gid: found.credentials.gid).contains(role),
        !found.hasEnded
      else { return nil }
      process = found
    } catch {
      guard error.isFullQueue,
        group.roles(uid: status.ownerID, gid: status.groupID).contains(role)
      else { return nil }
      process = nil
    }
  }

  /// Whether the process still holds the role. Does not connect, to avoid filling the queue of a
  /// stopped process.
  var isThere: Bool {
    guard let process, !process.hasEnded, let directory = try? Directory(path: directoryPath)
    else { return false }
    return (try? directory.status(of: name))??.inode == inode
  }
}
