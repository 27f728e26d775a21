import AppGroup
import Platform

/// Where a stream can be found in its group: a socket to reach its publisher, and a lock that
/// makes the publisher the only one.
struct StreamFiles {
  static let socketSuffix = ".sock"

  let socketPath: String
  let lockPath: String
  /// In the directory of streams.
  let lockName: String
  private let stream: StreamName
  private let directoryPath: String

  init(_ stream: StreamName, in group: AppGroup) {
    socketPath = "\(group.streamsPath)/\(stream.text)\(Self.socketSuffix)"
    lockName = "\(stream.text).lock"
    lockPath = "\(group.streamsPath)/\(lockName)"
    directoryPath = group.streamsPath
    self.stream = stream
  }

  /// What keeps this user from publishing, where the kernel told of an error on the way.
  func cause(of error: SystemError) -> PublisherError {
    if let lock = status(of: lockName) {
      if lock.kind != .file { return .inTheWay(path: lockPath, what: lock.kind.rawValue) }
      if lock.ownerID != currentUserID() { return .ofAnotherUser(stream, lock.ownerID, lockPath) }
    }
    if let socket = status(of: "\(stream.text)\(Self.socketSuffix)"), socket.kind != .socket {
      return .inTheWay(path: socketPath, what: socket.kind.rawValue)
    }
    return error.isAccessRefusal ? .notAllowed(path: directoryPath) : .system(error)
  }

  private func status(of name: String) -> FileStatus? {
    (try? Directory(path: directoryPath).status(of: name)) ?? nil
  }
}
