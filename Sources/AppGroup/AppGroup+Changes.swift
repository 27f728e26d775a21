import Platform

extension AppGroup {
  /// Creates and opens a group. Its owner is the calling user, or with `root` the owner of
  /// `root/state`, and holds every role.
  /// - Throws: ``GroupError``; its kind is `exists` if the group exists.
  public static func create(
    _ id: GroupID, root: String? = nil, kind: Kind = .user
  ) throws(GroupError) -> AppGroup {
    let choice: Location.Choice = root.map { .root($0) } ?? (kind == .system ? .system : .user)
    if choice == .user, let location = try Location.find(.system, isMaking: false) {
      try requireNone(id, in: openTrusted(location.statePath, location.trusted))
    }
    // Checked before anything is created, so that a refusal leaves nothing behind.
    if let root { try RunDirectory.requireShortPath(of: id, in: Location.absolute(root) + "/run") }
    guard let location = try Location.find(choice, isMaking: true) else {
      throw .unknown(id, [choice])
    }
    guard currentUserID() == location.ownerID || currentUserID() == 0 else {
      throw GroupError(
        .notPermitted,
        "only \(userText(location.ownerID)), the owner of \(location.statePath), can create groups"
          + " there",
        advice: location.ownerID == 0
          ? "run the command with sudo, or choose another directory with --root DIR"
          : "ask that user, or choose another directory with --root DIR")
    }
    let state = try openTrusted(location.statePath, location.trusted)
    let lock = try lockState(state, ownerID: location.ownerID)
    defer { lock.isHeldUntilHere() }
    try requireNone(id, in: state)
    if let run = try location.openRun(isMaking: false) {
      try RunDirectory.requireShortPath(of: id, in: run.path)
      // A removal that was interrupted may have left a directory with the old permissions.
      try setAside(id, in: run)
      run.sweep()
    }
    state.sweep()
    let manifest = Manifest(id: id, ownerID: location.ownerID)
    try makeContainer(manifest, in: state, location)
    do throws(GroupError) {
      guard let container = try Container.open(id, in: location) else {
        throw .unknown(id, [choice])
      }
      let read = try container.read()
      let run = try RunDirectory.open(of: id, read.manifest, in: location, isLocked: true)
      try attempt("cannot create the group \(id)") { () throws(SystemError) in try state.sync() }
      return AppGroup(container, read, runPath: run.path)
    } catch {
      // A failure leaves nothing behind.
      if let run = try? location.openRun(isMaking: false) {
        _ = try? setAside(id, in: run)
        run.sweep()
      }
      _ = try? setAside(id, in: state)
      state.sweep()
      throw error
    }
  }

  private static func requireNone(
    _ id: GroupID, in state: borrowing Directory
  ) throws(GroupError) {
    let found = try attempt("cannot look for the group \(id)") { () throws(SystemError) in
      try state.status(of: id.description)
    }
    guard let found else { return }
    let path = state.path(of: id.description)
    if found.kind == .directory {
      throw GroupError(
        .exists, "the group \(id) already exists in \(path)",
        advice: "see `framebus group show \(id)`")
    }
    throw GroupError(
      .unsafe, "\(path) is a \(found.kind.rawValue), not a group", advice: "remove it: rm \(path)")
  }

  /// Creates the complete container under a temporary name, then renames it.
  private static func makeContainer(
    _ manifest: Manifest, in state: borrowing Directory, _ location: Location
  ) throws(GroupError) {
    try state.putInPlace(manifest.id.description, replacing: false) {
      temporary throws(GroupError) in
      let ownerID = location.ownerID
      let made = try GroupLayout(manifest).container.make(
        as: temporary, in: state, Permissions(manifest, ownerID: ownerID))
      try attempt("cannot create the group \(manifest.id)") { () throws(SystemError) in
        _ = try AuditLog.make(in: made, ownerID: ownerID)
        try made.replaceFile(
          Manifest.fileName, with: Array(manifest.text.utf8), mode: 0o600, ownerID: ownerID,
          isSynced: false)
        try made.sync(files: [Manifest.fileName])
      }
    }
  }

  /// Grants a role to a user or a group: in the manifest and in the directories' permissions.
  /// Repeating a grant repairs the permissions.
  public static func grant(
    _ role: Role, to holder: Holder, in id: GroupID, root: String? = nil
  ) throws(GroupError) {
    try grant(role, to: [holder], in: id, root: root)
  }

  /// Grants a role to several holders in one step. A failure grants nothing.
  public static func grant(
    _ role: Role, to holders: [Holder], in id: GroupID, root: String? = nil
  ) throws(GroupError) {
    let location = try find(id, root: root).location
    try requireOwner(id, location, "grant roles")
    if location.choice == .user, holders.contains(where: { $0 != .user(location.ownerID) }) {
      throw GroupError(
        .notPermitted,
        "\(id) is in the home directory of \(userText(location.ownerID)) and cannot be shared",
        advice: "create a group to share with `sudo framebus group create ID --system`, or with"
          + " --root")
    }
    let state = try openTrusted(location.statePath, location.trusted)
    let lock = try lockState(state, ownerID: location.ownerID)
    defer { lock.isHeldUntilHere() }
    // Read under the lock, because another grant may have changed it.
    guard let container = try Container.open(id, in: location) else { throw .unknown(id, []) }
    let before = try container.read().manifest
    var manifest = before
    for holder in holders {
      switch holder {
      case .user(let uid): manifest.roles[role, default: .init()].uids.insert(uid)
      case .group(let gid): manifest.roles[role, default: .init()].gids.insert(gid)
      }
    }
    let run = try RunDirectory.open(of: id, before, in: location, isLocked: true)
    let permissions = Permissions(manifest, ownerID: location.ownerID)
    let layout = GroupLayout(manifest)
    do throws(GroupError) {
      // Permissions first: if the file system has no access control lists, the manifest does not
      // change.
      try layout.container.apply(permissions, to: container.directory)
      try layout.run.apply(permissions, to: run)
      try write(manifest, permissions, in: container)
    } catch {
      // Restored separately, because one may be on a full disk and the other not.
      let former = Permissions(before, ownerID: location.ownerID)
      try? layout.container.apply(former, to: container.directory)
      try? layout.run.apply(former, to: run)
      throw error
    }
    try attempt("the role is granted, but a power cut may undo it") { () throws(SystemError) in
      try container.directory.sync()
    }
  }

  /// Replaces the manifest. A failure leaves the old one in place.
  private static func write(
    _ manifest: Manifest, _ permissions: Permissions, in container: borrowing Container
  ) throws(GroupError) {
    let readers = permissions.list(owner: 6) { _ in 4 }
    let isPlain = readers.isPlain
    do throws(SystemError) {
      try container.directory.replaceFile(
        Manifest.fileName, with: Array(manifest.text.utf8), mode: isPlain ? 0o600 : 0o640,
        ownerID: container.location.ownerID, access: isPlain ? nil : readers)
    } catch {
      // After the rename only the sync can fail. The caller syncs again and reports that failure.
      if !error.followsChange { throw .failed("cannot write the manifest", error) }
    }
  }

  /// Removes a group and everything in it, even if its manifest is malformed.
  /// - Parameter isForced: removes the group even while streams are being published.
  public static func remove(
    _ id: GroupID, root: String? = nil, isForced: Bool = false
  ) throws(GroupError) {
    for choice in choices(root: root) {
      guard let location = try Location.find(choice, isMaking: false) else { continue }
      let state = try openTrusted(location.statePath, location.trusted)
      let found = try attempt("cannot look for the group \(id)") { () throws(SystemError) in
        try state.status(of: id.description)
      }
      if found == nil { continue }
      try requireOwner(id, location, "remove the group")
      let lock = try lockState(state, ownerID: location.ownerID)
      defer { lock.isHeldUntilHere() }
      let aside: [String]
      var left: [String] = []
      if let run = try location.openRun(isMaking: false) {
        if !isForced { try requireIdle(id, in: run) }
        // From here on the group does not exist, even if removing its files fails.
        aside = try [setAside(id, in: state), setAside(id, in: run)]
        left = run.sweep()
      } else {
        aside = try [setAside(id, in: state)]
      }
      try attempt("\(id) is removed, but a power cut may undo it") { () throws(SystemError) in
        try state.sync()
      }
      left += state.sweep()
      if let path = left.first(where: aside.contains) {
        throw GroupError(
          .system, "\(id) is removed, except for files that could not be removed from \(path)",
          advice: "remove them as root: rm -r \(path)")
      }
      return
    }
    throw GroupError(
      .unknown, "there is no group \(id)", advice: "list groups with `framebus group list`")
  }

  /// Renames the group's directory to a temporary name, so that the group disappears in one step.
  /// `sweep` removes it later. A missing directory is not an error.
  /// - Returns: the temporary path.
  @discardableResult
  private static func setAside(
    _ id: GroupID, in directory: borrowing Directory
  ) throws(GroupError) -> String {
    let temporary = temporaryName(prefix: temporaryPrefix)
    do {
      try directory.rename(id.description, to: temporary, replacing: false)
    } catch {
      if !error.isMissing { throw .failed("cannot remove the group \(id)", error) }
    }
    return directory.path(of: temporary)
  }

  private static func requireIdle(
    _ id: GroupID, in run: borrowing Directory
  ) throws(GroupError) {
    guard let group = try? run.openDirectory(id.description),
      let streams = try? group.openDirectory(GroupLayout.streams.name),
      let names = try? streams.names()
    else { return }
    for name in names where name.hasSuffix(".lock") {
      guard let file = try? streams.openForInspection(name), isLockedByAnother(file) else {
        continue
      }
      throw GroupError(
        .busy, "the stream \(printable(String(name.dropLast(5)))) of \(id) is being published",
        advice: "stop its publisher, or add --force")
    }
  }

  static func requireOwner(
    _ id: GroupID, _ location: Location, _ what: String
  ) throws(GroupError) {
    if currentUserID() == location.ownerID || currentUserID() == 0 { return }
    throw GroupError(
      .notPermitted,
      "only \(userText(location.ownerID)), the owner of the group \(id), can \(what)",
      advice: location.ownerID == 0 ? "run the command with sudo" : "ask that user")
  }
}

/// A holder of a role: a user, or all members of a group of the user database.
public enum Holder: Hashable, Sendable {
  /// A user, by its number.
  case user(UInt32)
  /// A group of users, by its number.
  case group(UInt32)
}
