import Platform

/// The directory `defaults` of a group's container, in which members who may publish keep settings
/// that every member reads. What its files hold is the business of SharedDefaults.
///
/// It is not sticky: whoever may write a suite may also put a new file in its place, as a change of
/// its journal into a snapshot does, whoever made the file before.
struct DefaultsPlace {
  static let directoryName = "defaults"
  private let permissions: Permissions

  init(_ permissions: Permissions) { self.permissions = permissions }

  /// What new files get. The owner of the group is named too: files belong to whoever made them.
  private var inherited: AccessList { permissions.publishing.naming(permissions.ownerID, 7) }

  /// A group of a version before it gets it from its owner, at the first use.
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

  /// Opens it, and makes it first if it is missing and the caller may.
  static func open(in container: borrowing Container) throws(GroupError) -> Directory {
    if let found = try opened(in: container) { return found }
    let path = container.directory.path(of: directoryName)
    let ownerID = container.place.ownerID
    if currentUserID() == ownerID || currentUserID() == 0 {
      try makeInPlace(in: container)
      if let made = try opened(in: container) { return made }
    }
    throw GroupError(
      .notPermitted, "\(path) is missing, and only \(userText(ownerID)) can make it",
      advice: "ask them to run `framebus defaults list --group \(container.id)"
        + "\(container.place.findingOption)`")
  }

  /// - Returns: nil if it is not there.
  private static func opened(in container: borrowing Container) throws(GroupError) -> Directory? {
    let path = container.directory.path(of: directoryName)
    guard let directory = try openedIfThere(in: container.directory) else { return nil }
    let status = try attempt("cannot look at \(path)") { () throws(SystemError) in
      try directory.status()
    }
    if status.ownerID != container.place.ownerID {
      throw GroupError(.foreignOwner(path: path, ownerID: status.ownerID))
    }
    if status.mode & 0o007 != 0 {
      throw GroupError(
        .unsafe, "\(path) has mode \(octal(status.mode)), which lets others in",
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

  /// Another process may be first.
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
  /// The directory in which the group's settings lie.
  package func openDefaults() throws(GroupError) -> Directory { try membership.openDefaults() }
}
