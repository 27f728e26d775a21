import Platform

/// The refusals of the group's policies: one log for each user, in the directory `audit` of the
/// container, which only members can reach. The refused process writes the line itself, so the log
/// shows mistakes. A hostile process can omit the line, but permissions still stop it.
struct AuditLog {
  static let directoryName = "audit"
  /// Members may write here but not list. The directory is sticky, so that a user cannot remove
  /// another user's log. The container's permissions exclude everyone else.
  static let mode: UInt32 = 0o1733
  /// The limit of one log. With its predecessor a log takes at most twice as much.
  static let maximumBytes = 1 << 20

  /// Appends a line to the calling user's log. A failed write is ignored, because the caller
  /// reports the refusal in any case.
  static func append(_ text: String, in container: borrowing Container) {
    let line = "\(wallNowNs()) pid \(currentProcessID()) uid \(currentUserID()) \(text)\n"
    guard let directory = open(in: container) else { return }
    try? directory.append(
      Array(line.utf8), toLog: "\(currentUserID()).log", limit: maximumBytes)
  }

  /// Opens the directory. A group of a version without it gets one when its owner calls this.
  private static func open(in container: borrowing Container) -> Directory? {
    let ownerID = container.location.ownerID
    // Members may search it, not list it.
    let found = try? container.directory.openPassage(directoryName)
    if let found {
      guard let status = try? found.status(), status.ownerID == ownerID else { return nil }
      return found
    }
    guard currentUserID() == ownerID || currentUserID() == 0 else { return nil }
    return try? make(in: container.directory, ownerID: ownerID)
  }

  static func make(
    in container: borrowing Directory, ownerID: UInt32
  ) throws(SystemError) -> Directory {
    try container.makeOwned(directoryName, mode: mode, by: ownerID)
  }
}

extension AppGroup {
  /// Appends a refusal of this process to the group's audit log.
  /// - Parameter text: one line. The caller passes untrusted parts through `printable`.
  package func audit(_ text: String) { membership.audit(text) }
}
