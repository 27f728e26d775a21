import Synchronization

/// A name in a directory at which one process listens. A lock makes that process unique; the kernel
/// releases it when the process dies. A socket leads to the process.
///
/// Every user who may create files in the directory may create these names. So links are not
/// followed, a socket has one name, and the kernel says which process answers, not the file.
package struct Endpoint: Hashable, Sendable {
  package let directoryPath: String
  package let name: String

  package init(_ name: String, in directoryPath: String) {
    self.name = name
    self.directoryPath = directoryPath
  }

  package var socketName: String { name + Self.socketSuffix }
  package var lockName: String { name + ".lock" }
  package var socketPath: String { "\(directoryPath)/\(socketName)" }
  private static let socketSuffix = ".sock"

  /// The bytes of the longest path that listening binds.
  package var longestPathBytes: Int {
    socketPath.utf8.count + ListeningSocket.temporarySuffix.utf8.count
  }

  /// The names of a directory's endpoints, of running and of dead processes.
  package static func names(in directory: borrowing Directory) throws(SystemError) -> [String] {
    try directory.names().filter { $0.hasSuffix(socketSuffix) }
      .map { String($0.dropLast(socketSuffix.count)) }
  }

  // MARK: Listening

  /// Why this process cannot listen.
  package enum ListenError: Error, Hashable, Sendable {
    /// Another process listens.
    case taken
    case inTheWay(Obstacle)
    case failed(SystemError)
  }

  /// An entry at one of the endpoint's names that does not belong to it.
  package struct Obstacle: Hashable, Sendable {
    package let path: String
    package let kind: FileStatus.Kind
    package let ownerID: UInt32
    /// Whether it is of another kind than the file of this name, of any owner.
    package let hasWrongKind: Bool
  }

  /// Makes this process the one that listens. Any user may connect: the kernel identifies the peer,
  /// and the caller decides.
  /// - Parameters:
  ///   - deadline: when to stop waiting for the lock of another process.
  ///   - locked: called between taking the lock and creating the socket.
  package func listen(
    until deadline: Deadline = .now, locked: () -> Void = {}
  ) throws(ListenError) -> EndpointListener {
    do throws(SystemError) {
      let directory = try Directory(path: directoryPath)
      let lock = try FileLock.take(
        lockName, in: directory, ownerID: currentUserID(), until: deadline)
      if let lock {
        locked()
        return try EndpointListener(self, directory, lock)
      }
    } catch {
      throw obstacle.map { .inTheWay($0) } ?? .failed(error)
    }
    throw .taken
  }

  private var obstacle: Obstacle? {
    guard let directory = try? Directory(path: directoryPath) else { return nil }
    let files: [(name: String, kind: FileStatus.Kind)] = [
      (lockName, .file), (socketName, .socket),
      (socketName + ListeningSocket.temporarySuffix, .socket),
    ]
    for file in files {
      guard let found = (try? directory.status(of: file.name)) ?? nil,
        found.kind != file.kind || found.ownerID != currentUserID()
      else { continue }
      return Obstacle(
        path: directory.path(of: file.name), kind: found.kind, ownerID: found.ownerID,
        hasWrongKind: found.kind != file.kind)
    }
    return nil
  }

  // MARK: Connecting

  /// Why there is no connection.
  package enum ConnectError: Error, Hashable, Sendable {
    /// No process listens.
    case absent
    /// The queue of the listening process is full: the process is stopped or overloaded.
    case busy(FileStatus)
    /// The socket's path holds a link, or another kind of file.
    case notSocket(path: String)
    /// The process that answers may not listen here.
    case notAdmitted(PeerCredentials)
    case notAllowed
    case failed(SystemError)
  }

  /// Connects to the process that listens.
  /// - Parameter admits: whether a process may listen here, by its credentials from the kernel and
  ///   the status of the socket.
  package func connect(
    admitting admits: (PeerCredentials, FileStatus) -> Bool
  ) throws(ConnectError) -> MessageSocket {
    // The directory need not be listable: a confined process may only search it.
    let node = try ConnectError.attempt(Directory.passage(directoryPath).openNode(socketName))
    let file = try ConnectError.attempt(fileStatus(of: node, path: socketPath))
    guard file.kind == .socket, file.linkCount <= 1 else { throw .notSocket(path: socketPath) }
    let socket = try Self.connect(to: node, file)
    let peer = try ConnectError.attempt(socket.peer())
    guard admits(peer, file) else { throw .notAdmitted(peer) }
    return socket
  }

  private static func connect(
    to node: borrowing Descriptor, _ file: FileStatus
  ) throws(ConnectError) -> MessageSocket {
    do throws(SystemError) {
      return try MessageSocket.connect(to: node)
    } catch {
      throw error.isFullQueue ? .busy(file) : ConnectError(error)
    }
  }
}

extension Endpoint.ConnectError: SystemFailure {
  package init(_ error: SystemError) {
    self = error.isAbsence ? .absent : error.isAccessRefusal ? .notAllowed : .failed(error)
  }
}

/// A process's side of an ``Endpoint``, from its start to its end.
package final class EndpointListener: Sendable {
  private let endpoint: Endpoint
  /// Opened at the start; its path may lead elsewhere by the end.
  private let directory: Directory
  private let socket: ListeningSocket
  private let lock: Mutex<FileLock?>

  fileprivate init(
    _ endpoint: Endpoint, _ directory: consuming Directory, _ lock: consuming FileLock
  ) throws(SystemError) {
    do throws(SystemError) {
      socket = try ListeningSocket(
        at: directory.reachablePath(of: endpoint.socketName), mode: 0o666)
    } catch {
      // Otherwise it would block the next process, which may belong to another user.
      try? directory.removeFile(endpoint.lockName)
      throw error
    }
    self.endpoint = endpoint
    self.directory = directory
    self.lock = Mutex(consume lock)
  }

  /// Readable while a process waits to connect.
  package var number: Int32 { socket.descriptor.number }

  /// - Returns: nil if no connection is pending.
  package func accept() throws(SystemError) -> MessageSocket? { try socket.accept() }

  /// Frees the name, for other users too: in a sticky directory leftover files would block them.
  /// When this returns a successor can listen. Releasing the last reference does the same.
  package func end() {
    lock.withLock { lock in
      // Before unlocking: afterwards the files may belong to a successor; if the lock file has been
      // removed, they already may.
      if lock?.isOfFile(endpoint.lockName, in: directory) == true {
        for name in [endpoint.socketName, endpoint.lockName] { try? directory.removeFile(name) }
      }
      lock = nil
    }
  }

  deinit { end() }
}
