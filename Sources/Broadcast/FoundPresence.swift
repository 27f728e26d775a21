import AppGroup
import Platform

/// Whoever listens on a socket, if the kernel says that it may hold the role.
///
/// Where others may make files, a name could be a link to the socket of a program that has nothing
/// to do with the group: none is followed, and a socket's owner is who listens on it.
struct FoundPresence {
  /// Nil where it lets nobody in, as one that was stopped (SIGSTOP) does once its queue is full.
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
      let socket = try MessageSocket.connect(to: "/proc/self/fd/\(node.number)")
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

  /// Whether it goes on in that role. Asks nothing of it, so that the queue of one that is stopped
  /// is not filled.
  var isThere: Bool {
    guard let process, !process.hasEnded, let directory = try? Directory(path: directoryPath)
    else { return false }
    return (try? directory.status(of: name))??.inode == inode
  }
}
