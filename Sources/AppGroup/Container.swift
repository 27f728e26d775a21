import Platform

/// The durable directory of one group, opened and checked.
struct Container: ~Copyable {
  let id: GroupID
  let location: Location
  let directory: Directory

  /// Opens the container of a group.
  /// - Returns: nil if the location has no such group.
  static func open(_ id: GroupID, in location: Location) throws(GroupError) -> Container? {
    guard let state = try openTrustedIfThere(location.statePath, location.trusted) else {
      return nil
    }
    guard let directory = try openGroupDirectory(id, in: state, location) else { return nil }
    return Container(id: id, location: location, directory: directory)
  }

  /// Runs the body. If it fails because another process removed the container, throws `unknown`.
  borrowing func whileThere<Value>(
    _ body: () throws(GroupError) -> Value
  ) throws(GroupError) -> Value {
    do { return try body() } catch {
      if isRemoved { throw .unknown(id, [location.choice]) }
      throw error
    }
  }

  /// Whether the group's name no longer leads to this directory: a removal renames it first, and
  /// then empties it.
  private var isRemoved: Bool {
    guard let own = try? directory.status(), own.linkCount > 0 else { return true }
    do throws(SystemError) {
      let named = try Directory(path: location.statePath).status(of: id.description)
      return named?.inode != own.inode || named?.device != own.device
    } catch { return false }
  }

  /// Opens an area. Creates it if it is missing and the caller has permission.
  borrowing func open(_ area: Area) throws(GroupError) -> Directory {
    let ownerID = location.ownerID
    if let found = try area.open(in: directory, ownerID: ownerID) { return found }
    try completeIfOwn(read().manifest)
    if let made = try area.open(in: directory, ownerID: ownerID) { return made }
    throw GroupError(
      .notPermitted,
      "\(directory.path(of: area.name)) is missing, and only \(userText(ownerID)) can create it",
      advice: "ask that user to run `framebus group show \(id)\(location.findingOption)`")
  }

  /// Creates areas that are missing, as in a container of an earlier version, if the caller has
  /// permission.
  borrowing func completeIfOwn(_ manifest: Manifest) throws(GroupError) {
    let ownerID = location.ownerID
    guard currentUserID() == ownerID || currentUserID() == 0 else { return }
    let area = GroupLayout(manifest).container
    if try area.isComplete(directory) { return }
    let state = try openTrusted(location.statePath, location.trusted)
    let lock = try lockState(state, ownerID: ownerID)
    defer { lock.isHeldUntilHere() }
    try area.complete(directory, Permissions(manifest, ownerID: ownerID))
  }

  /// A manifest and its file's status, which reveals a later change.
  struct ReadManifest: Sendable {
    let manifest: Manifest
    let status: FileStatus
  }

  /// Reads the manifest, and refuses a file that the owner alone did not control.
  func read() throws(GroupError) -> ReadManifest {
    let path = directory.path(of: Manifest.fileName)
    let remedy = "restore the file, or `framebus group remove \(id)\(location.findingOption)`"
    let bytes: [UInt8]
    let status: FileStatus
    do {
      (bytes, status) = try directory.readFile(Manifest.fileName, limit: Manifest.maximumBytes)
    } catch {
      switch error {
      case .system(let error) where error.reasonKind == .notPermitted:
        throw .noMember(id, in: location)
      case .system(let error): throw GroupError(.brokenManifest, "\(error)", advice: remedy)
      case .notFile(let path, let kind):
        throw GroupError(
          .brokenManifest, "\(path) is a \(kind.rawValue), not a file", advice: remedy)
      case .tooLarge(let path, let byteCount, let limit):
        throw GroupError(
          .brokenManifest, "\(path) has \(byteCount) bytes, more than \(limit)", advice: remedy)
      }
    }
    if status.ownerID != location.ownerID {
      throw GroupError(.foreignOwner(path: path, ownerID: status.ownerID))
    }
    if status.isWritableByGroup || status.isWritableByEverybody {
      throw GroupError(.writableByOthers(path: path, mode: status.mode))
    }
    if status.linkCount > 1 {
      throw GroupError(
        .unsafe, "\(path) has \(status.linkCount) hard links, so another user may change it",
        advice: "replace it with a copy: cp \(path) \(path).copy"
          + " && mv \(path).copy \(path)")
    }
    do {
      return ReadManifest(manifest: try Manifest(parsing: bytes, for: id), status: status)
    } catch {
      throw GroupError(
        error.isNewerVersion ? .newerVersion : .brokenManifest,
        "\(path), line \(error.line): \(error.reason)",
        advice: error.isNewerVersion ? "update FrameBus" : "correct the line")
    }
  }
}

/// Opens a group's directory in the state or the run directory of a location.
/// - Returns: nil if it does not exist.
func openGroupDirectory(
  _ id: GroupID, in parent: borrowing Directory, _ location: Location
) throws(GroupError) -> Directory? {
  let name = id.description
  let directory: Directory
  do {
    directory = try parent.openDirectory(name)
  } catch {
    if error.isMissing { return nil }
    if error.reasonKind == .notPermitted { throw .noMember(id, in: location) }
    if error.isNoDirectory {
      throw GroupError(
        .unsafe, "\(parent.path(of: name)) is not a directory, and links are not followed here",
        advice: "remove it: rm \(parent.path(of: name))")
    }
    throw .failed("cannot open the group \(id)", error)
  }
  try requireOwned(directory, by: location.ownerID)
  return directory
}

/// Checks that a group's directory belongs to the group's owner, that only users in its access
/// control list may write there, if its area permits that, and that nobody else may read it.
func requireOwned(
  _ directory: borrowing Directory, by ownerID: UInt32, as area: Area? = nil
) throws(GroupError) {
  let path = directory.path
  let status = try attempt("cannot read the status of \(path)") { () throws(SystemError) in
    try directory.status()
  }
  if status.ownerID != ownerID {
    throw GroupError(.foreignOwner(path: path, ownerID: status.ownerID))
  }
  let isOpen = status.mode & 0o007 != 0
  let mayBeWritable = area?.inherited != nil && (status.isSticky || area?.isSticky == false)
  let isWritable = status.isWritableByGroup && !mayBeWritable
  if isOpen || isWritable {
    throw GroupError(
      .unsafe, "\(path) has mode \(octal(status.mode)), which gives others access",
      advice: "run `chmod \(isWritable ? "g-w,o-rwx" : "o-rwx") \(path)`")
  }
}

extension GroupError {
  /// The error for a user without a role: names the owner and the command to ask for.
  static func noMember(_ id: GroupID, in location: Location) -> GroupError {
    let uid = currentUserID()
    return GroupError(
      .notPermitted,
      "\(userText(uid)) is not a member of the group \(id), which belongs to"
        + " \(userText(location.ownerID))",
      advice: "ask that user to run `framebus group grant ROLE --uid \(uid) --group \(id)"
        + "\(location.findingOption)`")
  }

  static func unknown(_ id: GroupID, _ choices: [Location.Choice]) -> GroupError {
    let option = if case .root(let path)? = choices.first { " --root \(path)" } else { "" }
    return GroupError(
      .unknown, "there is no group \(id)",
      advice: "create it with `framebus group create \(id)\(option)`")
  }
}
