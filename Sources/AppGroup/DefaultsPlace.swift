import Platform

/// The directory `defaults` of a group's container. Members who may publish write settings there,
/// and every member reads them. SharedDefaults defines the files.
///
/// The directory is not sticky: a user who may write a suite may also replace its file, whichever
/// user created it. Turning the journal into a snapshot does that.
struct DefaultsPlace {
  static let directoryName = "defaults"
  private let permissions: Permissions

  init(_ permissions: Permissions) { self.permissions = permissions }

  /// The access list that new files inherit. It names the group's owner, because a file belongs to
  /// the user who created it.
  private var inherited: AccessList { permissions.publishing.naming(permissions.ownerID, 7) }

  /// Sets the permissions if the directory exists. A group of a version without it gets one when
  /// its owner first uses settings.
  func applyIfThere(in container: borrowing Directory) throws(GroupError) {
    guard let directory = try Self.openedIfThere(in: container) else { return }
    try apply(to: directory)
  }

  func isSetIfThere(in container: borrowing Directory) throws(SystemError) -> Bool {
    guard try container.status(of: Self.directoryName) != nil else { return true }
    let directory = try container.openDirectory(Self.directoryName)
    guard try Permissions.has(permissions.publishing, .access, directory) else { return false }
    return try Permissions.has(inherited, .inherited, directory)
  }

  private func apply(to directory: borrowing Directory) throws(GroupError) {
    try permissions.set(permissions.publishing, .access, on: directory, plainMode: 0o700)
    try permissions.set(inherited, .inherited, on: directory, plainMode: nil)
  }

  /// Opens the directory. Creates it if it is missing and the caller has permission.
  static func open(in container: borrowing Container) throws(GroupError) -> Directory {
    if let found = try opened(in: container) { return found }
    let path = container.directory.path(of: directoryName)
    let ownerID = container.place.ownerID
    if currentUserID() == ownerID || currentUserID() == 0 {
      try makeInPlace(in: container)
      if let made = try opened(in: container) { return made }
    }
    throw GroupError(
      .notPermitted, "\(path) is missing, and only \(userText(ownerID)) can create it",
      advice: "ask that user to run `framebus defaults list --group \(container.id)"
        + "\(container.place.findingOption)`")
  }

  /// - Returns: nil if it is missing.
  private static func opened(in container: borrowing Container) throws(GroupError) -> Directory? {
    let path = container.directory.path(of: directoryName)
    guard let directory = try openedIfThere(in: container.directory) else { return nil }
    let status = try attempt("cannot read the status of \(path)") { () throws(SystemError) in
      try directory.status()
    }
    if status.ownerID != container.place.ownerID {
      throw GroupError(.foreignOwner(path: path, ownerID: status.ownerID))
    }
    if status.mode & 0o007 != 0 {
      throw GroupError(
        .unsafe, "\(path) has mode \(octal(status.mode)), which gives others access",
        advice: "run `chmod o-rwx \(path)`")
    }
    return directory
  }

  private static func openedIfThere(
    in container: borrowing Directory
  ) throws(GroupError) -> Directory? {
    do { return try container.openDirectory(directoryName) } catch {
      if error.isMissing { return nil }
      throw .failed("cannot open \(container.path(of: directoryName))", error)
    }
  }

  /// Creates the directory, unless another process does so first.
  private static func makeInPlace(in container: borrowing Container) throws(GroupError) {
    let manifest = try container.read().manifest
    let ownerID = container.place.ownerID
    try putInPlace(directoryName, in: container.directory, replacing: false) {
      temporary throws(GroupError) in
      let made = try makeOwned(temporary, mode: 0o700, in: container.directory, ownerID: ownerID)
      try DefaultsPlace(Permissions(manifest, ownerID: ownerID)).apply(to: made)
    }
  }
}

extension AppGroup {
  /// Opens the directory of the group's settings.
  package func openDefaults() throws(GroupError) -> Directory { try membership.openDefaults() }
}
