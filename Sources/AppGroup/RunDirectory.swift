import Platform

/// The volatile directory of one group: `ID` with `streams` in it. It goes at reboot; whoever
/// owns the group makes it again by opening the group.
struct RunDirectory: ~Copyable {
  let directory: Directory
  let streams: Directory

  static let streamsName = "streams"

  /// What a stream's socket needs besides its name: a slash, `.sock`, and the suffix of the
  /// temporary name that it is bound under.
  static let socketExtraBytes = 1 + 5 + 16
  /// A place whose streams could not have names even this long is refused.
  static let shortestNameLimit = 8
  static let longestName = 48

  /// The longest name of a stream whose socket can lie in a directory.
  static func maximumNameBytes(streamsPath: String) -> Int {
    min(longestName, maximumSocketPathBytes - socketExtraBytes - streamsPath.utf8.count)
  }

  /// Refuses a place whose sockets would have no valid path.
  static func requireShortPath(of id: GroupID, in parentPath: String) throws(GroupError) {
    let path = "\(parentPath)/\(id)/\(streamsName)"
    if maximumNameBytes(streamsPath: path) >= shortestNameLimit { return }
    let most = maximumSocketPathBytes - socketExtraBytes - shortestNameLimit
    throw GroupError(
      .unsafe,
      "the path of sockets would be too long: \(path) has \(path.utf8.count) bytes, and at most"
        + " \(most) leave room for a stream's name (a socket's path has at most"
        + " \(maximumSocketPathBytes))",
      advice: "choose a shorter --root or group id")
  }

  /// Opens the run directory, making it first if it is missing and the caller may.
  /// - Parameter isLocked: whether the caller holds the lock of the place.
  static func open(
    of id: GroupID, _ manifest: Manifest, in place: Place, isLocked: Bool = false
  ) throws(GroupError) -> RunDirectory {
    let mayMake = currentUserID() == place.ownerID || currentUserID() == 0
    guard let parent = try place.openRun(isMaking: mayMake) else { throw .missingRun(id, place) }
    try requireShortPath(of: id, in: parent.path)
    if let found = try opened(id, in: parent, place) { return found }
    if !mayMake { throw .missingRun(id, place) }
    if isLocked {
      try make(id, manifest, in: parent, place)
    } else {
      let state = try openTrusted(place.statePath, place.trusted)
      let lock = try lockState(state, ownerID: place.ownerID)
      defer { lock.isHeldUntilHere() }
      // Another process may have made it while this one waited.
      if let found = try opened(id, in: parent, place) { return found }
      try make(id, manifest, in: parent, place)
    }
    guard let made = try opened(id, in: parent, place) else { throw .missingRun(id, place) }
    return made
  }

  private static func opened(
    _ id: GroupID, in parent: borrowing Directory, _ place: Place
  ) throws(GroupError) -> RunDirectory? {
    guard let directory = try openGroupDirectory(id, in: parent, place) else { return nil }
    let streams: Directory
    do {
      streams = try directory.openDirectory(streamsName)
    } catch {
      if error.isMissing { return nil }
      throw .failed("cannot open the streams of the group \(id)", error)
    }
    try requireOwned(streams, by: place.ownerID, isShared: true)
    return RunDirectory(directory: directory, streams: streams)
  }

  /// Makes the directory under a temporary name and puts it in place as a whole, so that a death
  /// in between leaves nothing that anyone would take for it.
  private static func make(
    _ id: GroupID, _ manifest: Manifest, in parent: borrowing Directory, _ place: Place
  ) throws(GroupError) {
    let name = id.description
    try sweep(parent)
    let temporary = temporaryName(prefix: temporaryPrefix)
    let what = "cannot make \(parent.path(of: name))"
    let made = try attempt(what) { () throws(SystemError) in
      try parent.makeDirectory(temporary, mode: 0o700)
    }
    let streams = try attempt(what) { () throws(SystemError) in
      let streams = try made.makeDirectory(streamsName, mode: 0o1700)
      try give(made, to: place.ownerID)
      try give(streams, to: place.ownerID)
      return streams
    }
    do {
      try Permissions(manifest, ownerID: place.ownerID).apply(toRun: made, streams: streams)
      try attempt(what) { () throws(SystemError) in
        // What is there can only be one without `streams`: keep nothing of it.
        try parent.removeTree(name)
        try parent.rename(temporary, to: name, replacing: false)
      }
    } catch {
      try? parent.removeTree(temporary)
      throw error
    }
  }
}

/// What temporary entries begin with; group ids never begin with a dot.
let temporaryPrefix = ".new-group-"

/// Removes what dead processes left half made or half removed. Only under the place's lock.
func sweep(_ directory: borrowing Directory) throws(GroupError) {
  try attempt("cannot tidy \(directory.path)") { () throws(SystemError) in
    for name in try directory.names() where name.hasPrefix(temporaryPrefix) {
      try directory.removeTree(name)
    }
  }
}

/// Hands a directory that root made to the group's owner.
func give(_ directory: borrowing Directory, to ownerID: UInt32) throws(SystemError) {
  if currentUserID() != ownerID { try directory.setOwner(ownerID, group: .max) }
}

extension Place {
  /// Opens the directory of volatile parts.
  /// - Returns: nil if it is missing and not to be made.
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
      try attempt("cannot hand over \(path)") { () throws(SystemError) in
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
        + " \(userText(place.ownerID)) can make it",
      advice: "ask them to run `framebus group show \(id)\(place.findingOption)`")
  }
}
