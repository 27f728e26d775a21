import Platform

/// A location of groups: a directory for durable and one for volatile data, each with one directory
/// per group. Both are found by the user's ID or below a given root.
struct Location: Sendable {
  /// How the location is chosen.
  enum Choice: Hashable, Sendable {
    case user
    case system
    /// The directory of `--root`.
    case root(String)
  }

  let choice: Choice
  /// The directory for durable data, with links resolved.
  let statePath: String
  /// The owner of that directory, and therefore of every group in it.
  let ownerID: UInt32
  /// The users whose directories and links are accepted on the path.
  let trusted: Set<UInt32>

  /// The option that selects this location on a command line.
  var option: String {
    switch choice {
    case .user: ""
    case .system: " --system"
    case .root(let path): " --root \(path)"
    }
  }

  /// The option that `framebus group …` needs in addition to the ID to find a group. Only
  /// `create` needs --system.
  var findingOption: String { if case .root = choice { option } else { "" } }

  /// Finds the location.
  /// - Parameter isMaking: creates missing directories.
  /// - Returns: nil if it does not exist and `isMaking` is false.
  static func find(_ choice: Choice, isMaking: Bool) throws(GroupError) -> Location? {
    switch choice {
    case .user: try UserLocation().find(isMaking: isMaking)
    case .system: try findSystem(isMaking: isMaking)
    case .root(let path): try findRoot(path, isMaking: isMaking)
    }
  }

  private static let systemStatePath = "/var/lib/framebus"
  static let systemRunPath = "/run/framebus"

  private static func findSystem(isMaking: Bool) throws(GroupError) -> Location? {
    do {
      let state = try Directory.openTrusted(
        path: systemStatePath, trusting: [0], makingMode: isMaking ? 0o755 : nil)
      return Location(choice: .system, statePath: state.path, ownerID: 0, trusted: [0])
    } catch {
      if error.isNotFound && !isMaking { return nil }
      if error.isNotPermitted && isMaking {
        throw GroupError(
          .notPermitted, "only root can create the first system group (\(error.problem))",
          advice: "run the command with sudo")
      }
      throw GroupError(error)
    }
  }

  /// `--root DIR`: a user who names a directory trusts its owner and root, and nobody else.
  private static func findRoot(_ path: String, isMaking: Bool) throws(GroupError) -> Location? {
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
      return Location(
        choice: .root(root.path), statePath: state.path, ownerID: ownerID,
        trusted: trusted)
    } catch {
      if error.isNotFound && !isMaking { return nil }
      throw GroupError(error)
    }
  }

  /// The absolute path, without empty components.
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
