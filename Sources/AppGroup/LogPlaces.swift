import Platform

/// The directories of a group's logs: `logs` in its container, and `logs` in its run directory for
/// the newest lines. Every member may create files in both and read all files. SharedLog defines
/// the files.
enum LogPlaces {
  static let directoryName = "logs"

  /// Creates the container's directory if it is missing, as in a group of a version without it,
  /// and the caller has permission. Other callers get an error when they write.
  static func makeIfMissing(
    in container: borrowing Container, _ manifest: Manifest
  ) throws(GroupError) {
    let ownerID = container.place.ownerID
    guard currentUserID() == ownerID || currentUserID() == 0 else { return }
    let directory = container.directory.path
    let isThere = try attempt("cannot read the status of \(directory)") { () throws(SystemError) in
      try container.directory.status(of: directoryName) != nil
    }
    if isThere { return }
    try putInPlace(directoryName, in: container.directory, replacing: false) {
      temporary throws(GroupError) in
      let made = try makeOwned(
        temporary, mode: 0o1700, in: container.directory, ownerID: ownerID)
      try Permissions(manifest, ownerID: ownerID).apply(toJoined: made)
    }
  }

  static func apply(
    _ permissions: Permissions, in container: borrowing Directory
  ) throws(GroupError) {
    guard let logs = try open(in: container) else { return }
    try permissions.apply(toJoined: logs)
  }

  static func areSet(
    _ permissions: Permissions, in container: borrowing Directory
  ) throws(SystemError) -> Bool {
    do {
      return try permissions.areSet(onJoined: container.openDirectory(directoryName))
    } catch {
      // The owner's next `open` creates it.
      if error.isMissing { return true }
      throw error
    }
  }

  /// - Returns: nil if it is missing.
  private static func open(
    in container: borrowing Directory
  ) throws(GroupError) -> Directory? {
    do {
      return try container.openDirectory(directoryName)
    } catch {
      if error.isMissing { return nil }
      throw .failed("cannot open \(container.path(of: directoryName))", error)
    }
  }
}
