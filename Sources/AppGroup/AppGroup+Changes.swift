import Platform

extension AppGroup {
  /// Makes a group whose owner is the calling user (below `root`, the owner of `root/state`), and
  /// opens it. The owner may take every role.
  /// - Throws: ``GroupError``; its kind is `exists` if there is such a group already.
  public static func create(
    _ id: GroupID, root: String? = nil, kind: Kind = .user
  ) throws(GroupError) -> AppGroup {
    let choice: Place.Choice = root.map { .root($0) } ?? (kind == .system ? .system : .user)
    if choice == .user, let place = try Place.find(.system, isMaking: false) {
      try requireNone(id, in: openTrusted(place.statePath, place.trusted))
    }
    // Before anything is made, so that a refusal leaves nothing behind.
    if let root { try RunDirectory.requireShortPath(of: id, in: Place.absolute(root) + "/run") }
    guard let place = try Place.find(choice, isMaking: true) else {
      throw .unknown(id, [choice])
    }
    guard currentUserID() == place.ownerID || currentUserID() == 0 else {
      throw GroupError(
        .notPermitted,
        "\(place.statePath) belongs to \(userText(place.ownerID)), who alone can create groups"
          + " there",
        advice: place.ownerID == 0
          ? "run the command with sudo, or choose another place with --root DIR"
          : "ask them, or choose another place with --root DIR")
    }
    let state = try openTrusted(place.statePath, place.trusted)
    let lock = try lockState(state, ownerID: place.ownerID)
    defer { lock.isHeldUntilHere() }
    try requireNone(id, in: state)
    if let run = try place.openRun(isMaking: false) {
      try RunDirectory.requireShortPath(of: id, in: run.path)
      // Of a group of this id whose removal came no further, with its members' permissions.
      try setAside(id, in: run)
      sweep(run)
    }
    sweep(state)
    let manifest = Manifest(id: id, ownerID: place.ownerID)
    try makeContainer(manifest, in: state, place)
    do throws(GroupError) {
      guard let container = try Container.open(id, in: place) else { throw .unknown(id, [choice]) }
      let read = try container.read()
      let run = try RunDirectory.open(of: id, read.manifest, in: place, isLocked: true)
      try attempt("cannot make the group \(id)") { () throws(SystemError) in try state.sync() }
      return AppGroup(container, read, run)
    } catch {
      // All or nothing.
      if let run = try? place.openRun(isMaking: false) {
        _ = try? setAside(id, in: run)
        sweep(run)
      }
      _ = try? setAside(id, in: state)
      sweep(state)
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
        .exists, "the group \(id) exists already, in \(path)",
        advice: "see `framebus group show \(id)`")
    }
    throw GroupError(
      .unsafe, "\(path) is a \(found.kind.rawValue), not a group", advice: "remove it: rm \(path)")
  }

  /// Makes the container under a temporary name and puts it in place as a whole.
  private static func makeContainer(
    _ manifest: Manifest, in state: borrowing Directory, _ place: Place
  ) throws(GroupError) {
    try putInPlace(manifest.id.description, in: state, replacing: false) {
      temporary throws(GroupError) in
      let ownerID = place.ownerID
      let made = try makeOwned(temporary, mode: 0o700, in: state, ownerID: ownerID)
      _ = try makeOwned(DefaultsPlace.directoryName, mode: 0o700, in: made, ownerID: ownerID)
      let logs = try makeOwned(
        LogPlaces.directoryName, mode: 0o1700, in: made, ownerID: ownerID)
      try Permissions(manifest, ownerID: ownerID).apply(toJoined: logs)
      try attempt("cannot make the group \(manifest.id)") { () throws(SystemError) in
        _ = try AuditLog.make(in: made, ownerID: ownerID)
        try made.replaceFile(
          Manifest.fileName, with: Array(manifest.text.utf8), mode: 0o600, ownerID: ownerID,
          isSynced: false)
        try made.sync(files: [Manifest.fileName])
      }
    }
  }

  /// Lets a user or a group hold a role, in the manifest and in the permissions of the
  /// directories. Granting again what is granted puts the permissions right.
  public static func grant(
    _ role: Role, to holder: Holder, in id: GroupID, root: String? = nil
  ) throws(GroupError) {
    try grant(role, to: [holder], in: id, root: root)
  }

  /// The same for several, in one step: a failure grants nobody anything.
  public static func grant(
    _ role: Role, to holders: [Holder], in id: GroupID, root: String? = nil
  ) throws(GroupError) {
    let place = try find(id, root: root).place
    try requireOwner(id, place, "grant roles")
    if place.choice == .user, holders.contains(where: { $0 != .user(place.ownerID) }) {
      throw GroupError(
        .notPermitted,
        "\(id) lies in the home directory of \(userText(place.ownerID)) and is theirs alone",
        advice: "share a group made with `sudo framebus group create ID --system`, or with --root")
    }
    let state = try openTrusted(place.statePath, place.trusted)
    let lock = try lockState(state, ownerID: place.ownerID)
    defer { lock.isHeldUntilHere() }
    // Read under the lock: another grant may have just changed it.
    guard let container = try Container.open(id, in: place) else { throw .unknown(id, []) }
    let before = try container.read().manifest
    var manifest = before
    for holder in holders {
      switch holder {
      case .user(let uid): manifest.roles[role, default: .init()].uids.insert(uid)
      case .group(let gid): manifest.roles[role, default: .init()].gids.insert(gid)
      }
    }
    let run = try RunDirectory.open(of: id, before, in: place, isLocked: true)
    let permissions = Permissions(manifest, ownerID: place.ownerID)
    do throws(GroupError) {
      // Permissions first: where the file system has no lists, the manifest stays as it was.
      try permissions.apply(toContainer: container.directory)
      try permissions.apply(toRun: run)
      try write(manifest, permissions, in: container)
    } catch {
      // Each by itself: the one may be on a full disk, and the other not.
      let former = Permissions(before, ownerID: place.ownerID)
      try? former.apply(toContainer: container.directory)
      try? former.apply(toRun: run)
      throw error
    }
    try attempt("the grant is made, but a power cut may undo it") { () throws(SystemError) in
      try container.directory.sync()
    }
  }

  /// Puts a manifest in the place of another, or leaves that one.
  private static func write(
    _ manifest: Manifest, _ permissions: Permissions, in container: borrowing Container
  ) throws(GroupError) {
    let isPlain = permissions.reading.isPlain
    do throws(SystemError) {
      try container.directory.replaceFile(
        Manifest.fileName, with: Array(manifest.text.utf8), mode: isPlain ? 0o600 : 0o640,
        ownerID: container.place.ownerID, access: isPlain ? nil : permissions.reading)
    } catch {
      // The caller asks for that again, and says so.
      if !error.followsChange { throw .failed("cannot write the manifest", error) }
    }
  }

  /// Removes a group with everything in it. A broken group can be removed as well.
  /// - Parameter isForced: removes it even while streams are being published.
  public static func remove(
    _ id: GroupID, root: String? = nil, isForced: Bool = false
  ) throws(GroupError) {
    for choice in choices(root: root) {
      guard let place = try Place.find(choice, isMaking: false) else { continue }
      let state = try openTrusted(place.statePath, place.trusted)
      let found = try attempt("cannot look for the group \(id)") { () throws(SystemError) in
        try state.status(of: id.description)
      }
      if found == nil { continue }
      try requireOwner(id, place, "remove it")
      let lock = try lockState(state, ownerID: place.ownerID)
      defer { lock.isHeldUntilHere() }
      let aside: [String]
      var left: [String] = []
      if let run = try place.openRun(isMaking: false) {
        if !isForced { try requireIdle(id, in: run) }
        // From here on the group does not exist, even if removing its files fails.
        aside = try [setAside(id, in: state), setAside(id, in: run)]
        left = sweep(run)
      } else {
        aside = try [setAside(id, in: state)]
      }
      try attempt("\(id) is removed, but a power cut may undo that") { () throws(SystemError) in
        try state.sync()
      }
      left += sweep(state)
      if let path = left.first(where: aside.contains) {
        throw GroupError(
          .system, "\(id) is removed, but what somebody put into it is left in \(path)",
          advice: "have root remove that: rm -r \(path)")
      }
      return
    }
    throw GroupError(
      .unknown, "there is no group \(id)", advice: "`framebus group list` shows those there are")
  }

  /// Gives the entry another name, so that the group is gone at once, as a whole; sweeping removes
  /// what has that name. A missing entry is not an error.
  /// - Returns: the path of that name.
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
      let streams = try? group.openDirectory(RunDirectory.streamsName),
      let names = try? streams.names()
    else { return }
    for name in names where name.hasSuffix(".lock") {
      guard let file = try? streams.openForLooking(name), isLockedByAnother(file) else { continue }
      throw GroupError(
        .busy, "the stream \(printable(String(name.dropLast(5)))) of \(id) is being published",
        advice: "stop its publisher, or add --force")
    }
  }

  static func requireOwner(
    _ id: GroupID, _ place: Place, _ what: String
  ) throws(GroupError) {
    if currentUserID() == place.ownerID || currentUserID() == 0 { return }
    throw GroupError(
      .notPermitted,
      "the group \(id) belongs to \(userText(place.ownerID)), who alone can \(what)",
      advice: place.ownerID == 0 ? "run the command with sudo" : "ask them")
  }
}

/// Who holds a role: a user, or all users of a group of the user database.
public enum Holder: Hashable, Sendable {
  case user(UInt32)
  case group(UInt32)
}
