import Platform

/// Opens the volatile directory of one group, `ID`. A reboot removes it; the group's owner
/// recreates it by opening the group.
enum RunDirectory {
  /// The bytes of a stream's socket path besides directory and name: a slash, `.sock`, and the
  /// suffix of the temporary name to which it is bound.
  static let socketExtraBytes = 1 + 5 + 16
  /// A location that leaves less room than this for a stream's name is refused.
  static let shortestNameLimit = 8
  static let longestName = 48

  /// The longest name of a stream whose socket is in the directory.
  static func maximumNameBytes(streamsPath: String) -> Int {
    min(longestName, maximumSocketPathBytes - socketExtraBytes - streamsPath.utf8.count)
  }

  /// Throws if the paths of sockets in the location would be too long.
  static func requireShortPath(of id: GroupID, in parentPath: String) throws(GroupError) {
    let path = "\(parentPath)/\(id)/\(GroupLayout.streams.name)"
    if maximumNameBytes(streamsPath: path) >= shortestNameLimit { return }
    let most = maximumSocketPathBytes - socketExtraBytes - shortestNameLimit
    throw GroupError(
      .unsafe,
      "the paths of sockets would be too long: \(path) has \(path.utf8.count) bytes, but at most"
        + " \(most) leave room for a stream's name (a socket's path has at most"
        + " \(maximumSocketPathBytes))",
      advice: "choose a shorter --root or group ID")
  }

  /// Opens the run directory. Creates it if it is missing and the caller has permission.
  /// - Parameter isLocked: whether the caller holds the location's lock.
  static func open(
    of id: GroupID, _ manifest: Manifest, in location: Location, isLocked: Bool = false
  ) throws(GroupError) -> Directory {
    let mayMake = currentUserID() == location.ownerID || currentUserID() == 0
    guard let parent = try location.openRun(isMaking: mayMake) else {
      throw .missingRun(id, location)
    }
    try requireShortPath(of: id, in: parent.path)
    if let found = try opened(id, manifest, mayMake: mayMake, in: parent, location) { return found }
    if !mayMake { throw .missingRun(id, location) }
    if isLocked {
      try make(id, manifest, in: parent, location)
    } else {
      let state = try openTrusted(location.statePath, location.trusted)
      let lock = try lockState(state, ownerID: location.ownerID)
      defer { lock.isHeldUntilHere() }
      // Another process may have created it while this one waited.
      if let found = try opened(id, manifest, mayMake: true, in: parent, location) { return found }
      try make(id, manifest, in: parent, location)
    }
    guard let made = try opened(id, manifest, mayMake: true, in: parent, location) else {
      throw .missingRun(id, location)
    }
    return made
  }

  /// - Parameter mayMake: whether the caller can create missing name tables.
  /// - Returns: nil if it or one of its directories is missing.
  private static func opened(
    _ id: GroupID, _ manifest: Manifest, mayMake: Bool, in parent: borrowing Directory,
    _ location: Location
  ) throws(GroupError) -> Directory? {
    guard let directory = try openGroupDirectory(id, in: parent, location) else { return nil }
    for area in GroupLayout(manifest).run.areas {
      guard let found = try area.open(in: directory, ownerID: location.ownerID) else { return nil }
      if mayMake, try !area.isComplete(found) { return nil }
    }
    return directory
  }

  /// Creates the complete directory under a temporary name and renames it, so that a process that
  /// dies meanwhile leaves no incomplete directory under the final name. A directory of an earlier
  /// version may be in use, so missing areas are added to it in the same way.
  private static func make(
    _ id: GroupID, _ manifest: Manifest, in parent: borrowing Directory, _ location: Location
  ) throws(GroupError) {
    parent.sweep()
    let layout = GroupLayout(manifest)
    let permissions = Permissions(manifest, ownerID: location.ownerID)
    if let present = try openGroupDirectory(id, in: parent, location),
      try GroupLayout.streams.open(in: present, ownerID: location.ownerID) != nil
    {
      return try layout.run.complete(present, permissions)
    }
    try parent.putInPlace(id.description, replacing: true) { temporary throws(GroupError) in
      _ = try layout.run.make(as: temporary, in: parent, permissions)
    }
  }
}

extension Location {
  /// Opens the directory for volatile data.
  /// - Returns: nil if it is missing and `isMaking` is false.
  func openRun(isMaking: Bool) throws(GroupError) -> Directory? {
    switch choice {
    case .user: return try UserRunLocation().find(for: openTrusted(statePath, trusted))
    case .system: return try openRun(Self.systemRunPath, isMaking)
    case .root(let path): return try openRun(path + "/run", isMaking)
    }
  }

  private func openRun(_ path: String, _ isMaking: Bool) throws(GroupError) -> Directory? {
    if let found = try openTrustedIfThere(path, trusted) { return found }
    if !isMaking { return nil }
    let made = try openTrusted(path, trusted, makingMode: 0o755)
    if case .root = choice {
      try attempt("cannot change the owner of \(path)") { () throws(SystemError) in
        try made.give(to: ownerID)
      }
    }
    return made
  }
}

extension GroupError {
  static func missingRun(_ id: GroupID, _ location: Location) -> GroupError {
    GroupError(
      .notPermitted,
      "the run directory of the group \(id) is missing, as after a reboot, and only"
        + " \(userText(location.ownerID)) can create it",
      advice: "ask that user to run `framebus group show \(id)\(location.findingOption)`")
  }
}
