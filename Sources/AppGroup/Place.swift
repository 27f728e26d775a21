import Platform

/// Where groups lie: a directory of durable parts and one of volatile parts, each holding one
/// directory a group, both found by the user's id or below a given root.
struct Place: Sendable {
  /// What decides the place.
  enum Choice: Hashable, Sendable {
    case user
    case system
    /// The directory of `--root`.
    case root(String)
  }

  let choice: Choice
  /// The directory of durable parts, without links.
  let statePath: String
  /// Who owns that directory, and with it every group in it.
  let ownerID: UInt32
  /// Whose directories and links may lie on the path.
  let trusted: Set<UInt32>

  /// What a command line needs to reach the same place.
  var option: String {
    switch choice {
    case .user: ""
    case .system: " --system"
    case .root(let path): " --root \(path)"
    }
  }

  /// What `framebus group …` needs besides the id: creating tells system groups apart, finding
  /// does not.
  var findingOption: String { if case .root = choice { option } else { "" } }

  /// Finds the place.
  /// - Parameter isMaking: makes the directories that are missing.
  /// - Returns: nil if there is none yet and none is to be made.
  static func find(_ choice: Choice, isMaking: Bool) throws(GroupError) -> Place? {
    switch choice {
    case .user: try UserPlace().find(isMaking: isMaking)
    case .system: try findSystem(isMaking: isMaking)
    case .root(let path): try findRoot(path, isMaking: isMaking)
    }
  }

  private static let systemStatePath = "/var/lib/framebus"
  static let systemRunPath = "/run/framebus"

  private static func findSystem(isMaking: Bool) throws(GroupError) -> Place? {
    do {
      let state = try Directory.openTrusted(
        path: systemStatePath, trusting: [0], makingMode: isMaking ? 0o755 : nil)
      return Place(choice: .system, statePath: state.path, ownerID: 0, trusted: [0])
    } catch {
      if error.isNotFound && !isMaking { return nil }
      if error.isNotPermitted && isMaking {
        throw GroupError(
          .notPermitted, "only root can make the first system group (\(error.problem))",
          advice: "run the command with sudo")
      }
      throw GroupError(error)
    }
  }

  /// `--root DIR`: whoever names a directory trusts its owner, and nobody else but root.
  private static func findRoot(_ path: String, isMaking: Bool) throws(GroupError) -> Place? {
    let absolute = try absolute(path)
    var trusted: Set<UInt32> = [0, currentUserID()]
    if let status = try? Directory(path: absolute).status() { trusted.insert(status.ownerID) }
    do {
      let mode: UInt32? = isMaking ? 0o755 : nil
      let root = try Directory.openTrusted(path: absolute, trusting: trusted, makingMode: mode)
      let statePath = root.path(of: "state")
      let state = try Directory.openTrusted(
        path: statePath, trusting: trusted, makingMode: mode)
      let ownerID = try status(of: state).ownerID
      return Place(
        choice: .root(root.path), statePath: state.path, ownerID: ownerID,
        trusted: trusted)
    } catch {
      if error.isNotFound && !isMaking { return nil }
      throw GroupError(error)
    }
  }

  /// A path from the root directory on, without empty names.
  static func absolute(_ path: String) throws(GroupError) -> String {
    var start = ""
    if !path.hasPrefix("/") {
      start = try attempt("cannot find \(path)") { () throws(SystemError) in
        try currentDirectoryPath()
      }
    }
    return "/" + (start + "/" + path).split(separator: "/").joined(separator: "/")
  }

  private static func status(of directory: borrowing Directory) throws(PathError) -> FileStatus {
    do { return try directory.status() } catch { throw .system(error) }
  }
}
