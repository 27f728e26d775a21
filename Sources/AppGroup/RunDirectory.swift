import Platform

/// The volatile directory of one group, `ID`. It contains `notify`, and `streams`, `semaphores` and
/// `logs`, in which members may create entries. A reboot removes it; the group's owner recreates it
/// by opening the group.
struct RunDirectory: ~Copyable {
  let directory: Directory
  let streams: Directory
  let semaphores: Directory
  let notify: Directory
  let logs: Directory

  static let streamsName = "streams"
  private static let semaphoresName = "semaphores"

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
    let path = "\(parentPath)/\(id)/\(streamsName)"
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
    of id: GroupID, _ manifest: Manifest, in place: Place, isLocked: Bool = false
  ) throws(GroupError) -> RunDirectory {
    let mayMake = currentUserID() == place.ownerID || currentUserID() == 0
    guard let parent = try place.openRun(isMaking: mayMake) else { throw .missingRun(id, place) }
    try requireShortPath(of: id, in: parent.path)
    if let found = try opened(id, manifest, mayMake: mayMake, in: parent, place) { return found }
    if !mayMake { throw .missingRun(id, place) }
    if isLocked {
      try make(id, manifest, in: parent, place)
    } else {
      let state = try openTrusted(place.statePath, place.trusted)
      let lock = try lockState(state, ownerID: place.ownerID)
      defer { lock.isHeldUntilHere() }
      // Another process may have created it while this one waited.
      if let found = try opened(id, manifest, mayMake: true, in: parent, place) { return found }
      try make(id, manifest, in: parent, place)
    }
    guard let made = try opened(id, manifest, mayMake: true, in: parent, place) else {
      throw .missingRun(id, place)
    }
    return made
  }

  /// - Parameter mayMake: whether the caller can create missing name tables.
  /// - Returns: nil if it or one of its directories is missing.
  private static func opened(
    _ id: GroupID, _ manifest: Manifest, mayMake: Bool, in parent: borrowing Directory,
    _ place: Place
  ) throws(GroupError) -> RunDirectory? {
    guard let directory = try openGroupDirectory(id, in: parent, place),
      let streams = try openShared(streamsName, in: directory, place),
      let semaphores = try openShared(semaphoresName, in: directory, place),
      let notify = try openShared(NotifyPlaces.directoryName, in: directory, place),
      let logs = try openShared(LogPlaces.directoryName, in: directory, place)
    else { return nil }
    if mayMake, try !NotifyPlaces.missing(manifest.notifications, in: notify).isEmpty { return nil }
    return RunDirectory(
      directory: directory, streams: streams, semaphores: semaphores, notify: notify, logs: logs)
  }

  private static func openShared(
    _ name: String, in directory: borrowing Directory, _ place: Place
  ) throws(GroupError) -> Directory? {
    let shared: Directory
    do {
      shared = try directory.openDirectory(name)
    } catch {
      if error.isMissing { return nil }
      throw .failed("cannot open \(directory.path(of: name))", error)
    }
    try requireOwned(shared, by: place.ownerID, isShared: true)
    return shared
  }

  /// Creates the complete directory under a temporary name and renames it, so that a process that
  /// dies meanwhile leaves no incomplete directory under the final name. A directory of an earlier
  /// version may be in use, so missing parts are added to it in the same way.
  private static func make(
    _ id: GroupID, _ manifest: Manifest, in parent: borrowing Directory, _ place: Place
  ) throws(GroupError) {
    sweep(parent)
    let name = id.description
    let permissions = Permissions(manifest, ownerID: place.ownerID)
    if let present = try openGroupDirectory(id, in: parent, place),
      try openShared(streamsName, in: present, place) != nil
    {
      return try complete(present, permissions, place)
    }
    try putInPlace(name, in: parent, replacing: true) { temporary throws(GroupError) in
      let made = try makeOwned(temporary, mode: 0o700, in: parent, ownerID: place.ownerID)
      let streams = try makeShared(streamsName, in: made, place)
      let semaphores = try makeShared(semaphoresName, in: made, place)
      let notify = try makeNotify(NotifyPlaces.directoryName, permissions, in: made, place)
      let logs = try makeShared(LogPlaces.directoryName, in: made, place)
      try permissions.apply(
        toRun: RunDirectory(
          directory: made, streams: streams, semaphores: semaphores, notify: notify, logs: logs))
    }
  }

  /// Creates the parts that a directory of an earlier version lacks.
  private static func complete(
    _ present: borrowing Directory, _ permissions: Permissions, _ place: Place
  ) throws(GroupError) {
    sweep(present)
    if try openShared(semaphoresName, in: present, place) == nil {
      try putInPlace(semaphoresName, in: present, replacing: true) {
        temporary throws(GroupError) in
        try permissions.apply(toShared: makeShared(temporary, in: present, place))
      }
    }
    if try openShared(LogPlaces.directoryName, in: present, place) == nil {
      try putInPlace(LogPlaces.directoryName, in: present, replacing: true) {
        temporary throws(GroupError) in
        try permissions.apply(toJoined: makeShared(temporary, in: present, place))
      }
    }
    guard let notify = try openShared(NotifyPlaces.directoryName, in: present, place) else {
      return try putInPlace(NotifyPlaces.directoryName, in: present, replacing: true) {
        temporary throws(GroupError) in
        _ = try makeNotify(temporary, permissions, in: present, place)
      }
    }
    sweep(notify)
    for table in try NotifyPlaces.missing(permissions.manifest.notifications, in: notify) {
      try putInPlace(table.directoryName, in: notify, replacing: true) {
        temporary throws(GroupError) in
        try NotifyPlaces(permissions).make(table, named: temporary, in: notify)
      }
    }
  }

  private static func makeNotify(
    _ name: String, _ permissions: Permissions, in directory: borrowing Directory, _ place: Place
  ) throws(GroupError) -> Directory {
    let made = try makeOwned(name, mode: 0o700, in: directory, ownerID: place.ownerID)
    try NotifyPlaces(permissions).make(in: made)
    return made
  }

  private static func makeShared(
    _ name: String, in directory: borrowing Directory, _ place: Place
  ) throws(GroupError) -> Directory {
    try makeOwned(name, mode: 0o1700, in: directory, ownerID: place.ownerID)
  }
}

extension Place {
  /// Opens the directory for volatile data.
  /// - Returns: nil if it is missing and `isMaking` is false.
  func openRun(isMaking: Bool) throws(GroupError) -> Directory? {
    switch choice {
    case .user: return try UserRunPlace().find(for: openTrusted(statePath, trusted))
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
        try give(made, to: ownerID)
      }
    }
    return made
  }
}

extension GroupError {
  static func missingRun(_ id: GroupID, _ place: Place) -> GroupError {
    GroupError(
      .notPermitted,
      "the run directory of the group \(id) is missing, as after a reboot, and only"
        + " \(userText(place.ownerID)) can create it",
      advice: "ask that user to run `framebus group show \(id)\(place.findingOption)`")
  }
}
