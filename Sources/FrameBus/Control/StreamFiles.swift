import AppGroup
import Platform

/// A stream's files in its group: a socket to reach its publisher, and a lock that makes the
/// publisher unique.
struct StreamFiles {
  static let socketSuffix = ".sock"

  let socketPath: String
  /// Relative to the directory of streams.
  let socketName: String
  let lockName: String
  private let stream: StreamName
  private let directoryPath: String

  init(_ stream: StreamName, in group: AppGroup) {
    socketName = "\(stream.text)\(Self.socketSuffix)"
    socketPath = "\(group.streamsPath)/\(socketName)"
    lockName = "\(stream.text).lock"
    directoryPath = group.streamsPath
    self.stream = stream
  }

  /// The reason why this user cannot publish, derived from a system error.
  func cause(of error: SystemError) -> PublisherError {
    for (name, kind) in [(lockName, FileStatus.Kind.file), (socketName, .socket)] {
      guard let found = status(of: name) else { continue }
      let path = "\(directoryPath)/\(name)"
      if found.kind != kind { return .inTheWay(path: path, what: found.kind.rawValue) }
      if found.ownerID != currentUserID() { return .ofAnotherUser(stream, found.ownerID, path) }
    }
    return error.isAccessRefusal ? .notAllowed(path: directoryPath) : .system(error)
  }

  private func status(of name: String) -> FileStatus? {
    (try? Directory(path: directoryPath).status(of: name)) ?? nil
  }
}
