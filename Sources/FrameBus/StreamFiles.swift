import AppGroup

/// Where a stream can be found in its group: a socket to reach its publisher, and a lock that
/// makes the publisher the only one.
struct StreamFiles {
  static let socketSuffix = ".sock"

  let socketPath: String
  /// In the directory of streams.
  let lockName: String

  init(_ stream: StreamName, in group: AppGroup) {
    socketPath = "\(group.streamsPath)/\(stream.text)\(Self.socketSuffix)"
    lockName = "\(stream.text).lock"
  }
}
