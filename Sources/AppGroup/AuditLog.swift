import Platform

/// What processes were refused: a log for each user, in the directory `audit` of the group's
/// container, which members alone can reach. Whoever is refused writes the line itself, so this
/// tells of mistakes; a program that means harm can leave it out, and is stopped by permissions.
struct AuditLog {
  static let directoryName = "audit"
  /// Members write here without listing; sticky, so that none can take another's log away. The
  /// container lets nobody else come this far.
  static let mode: UInt32 = 0o1733
  /// A log and its predecessor take at most twice as much.
  static let maximumBytes = 1 << 20

  /// Adds a line to the calling user's log. What cannot be written is left out: the refusal itself
  /// is what counts, and its error goes to the caller in any case.
  static func append(_ text: String, in container: borrowing Container) {
    let line = "\(wallNowNs()) pid \(currentProcessID()) uid \(currentUserID()) \(text)\n"
    guard let directory = open(in: container) else { return }
    try? directory.append(
      Array(line.utf8), toLog: "\(currentUserID()).log", limit: maximumBytes)
  }

  /// The directory; a group of a version before it gets it from its owner.
  private static func open(in container: borrowing Container) -> Directory? {
    let ownerID = container.place.ownerID
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
    let made = try container.makeDirectory(directoryName, mode: mode)
    try give(made, to: ownerID)
    return made
  }
}

extension AppGroup {
  /// Notes in the group's container that this process was refused something.
  /// - Parameter text: one line; what comes from others in it has gone through `printable`.
  package func audit(_ text: String) { membership.audit(text) }
}
