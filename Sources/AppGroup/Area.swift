import Platform

/// A directory of a group that AppGroup creates: its name, its permissions, and the directories and
/// files in it that have permissions of their own. It is data, so one function each creates,
/// changes and checks all directories. The module that an area is for defines all other files in
/// it (docs/decisions/0026-areas-in-one-table.md).
struct Area: Sendable {
  /// What a holder of a role may do.
  typealias Access = @Sendable (Role) -> AccessList.Permissions

  /// A file with permissions of its own, which its module extends.
  struct File: Sendable {
    let name: String
    let access: Access
  }

  let name: String
  /// The mode in a group without other members. With an access control list, the mode's group bits
  /// are the list's mask (acl(5)).
  let mode: UInt32
  let access: Access
  /// What new entries inherit; nil if only the owner creates entries. Always names the group's
  /// owner, because an entry belongs to its creator.
  var inherited: Access?
  var files: [File] = []
  var areas: [Area] = []

  /// Whether members can replace only their own entries.
  var isSticky: Bool { mode & 0o1000 != 0 }

  /// The initial size of a file.
  private static let firstBytes = 4096

  // MARK: Creation

  /// Creates the directory and everything in it.
  func make(
    as name: String, in parent: borrowing Directory, _ permissions: Permissions
  ) throws(GroupError) -> Directory {
    let ownerID = permissions.ownerID
    let made = try attempt("cannot create \(parent.path(of: name))") { () throws(SystemError) in
      let made = try parent.makeOwned(name, mode: mode, by: ownerID)
      for file in files {
        _ = try made.makeFile(
          file.name, byteCount: Self.firstBytes, mode: 0o600, ownerID: ownerID)
      }
      return made
    }
    for area in areas { _ = try area.make(as: area.name, in: made, permissions) }
    try applyHere(permissions, to: made)
    return made
  }

  /// Creates the areas that a directory of an earlier version or policy lacks. The caller must hold
  /// the location's lock. The directory may be in use, so each area appears complete.
  func complete(
    _ directory: borrowing Directory, _ permissions: Permissions
  ) throws(GroupError) {
    directory.sweep()
    for area in areas {
      if let found = try area.openIfThere(in: directory) {
        if !area.areas.isEmpty { try area.complete(found, permissions) }
      } else {
        try directory.putInPlace(area.name, replacing: false) { temporary throws(GroupError) in
          _ = try area.make(as: temporary, in: directory, permissions)
        }
      }
    }
  }

  /// Whether the directory has all its areas.
  func isComplete(_ directory: borrowing Directory) throws(GroupError) -> Bool {
    try attempt("cannot read the status of \(directory.path)") { () throws(SystemError) in
      for area in areas where try directory.status(of: area.name) == nil { return false }
      return true
    }
  }

  // MARK: Opening

  /// Opens the directory, and refuses one that the group's owner does not control.
  /// - Returns: nil if it is missing.
  func open(
    in parent: borrowing Directory, ownerID: UInt32
  ) throws(GroupError) -> Directory? {
    guard let directory = try openIfThere(in: parent) else { return nil }
    try requireOwned(directory, by: ownerID, as: self)
    return directory
  }

  private func openIfThere(in parent: borrowing Directory) throws(GroupError) -> Directory? {
    do { return try parent.openDirectory(name) } catch {
      if error.isMissing { return nil }
      throw .failed("cannot open \(parent.path(of: name))", error)
    }
  }

  // MARK: Permissions

  /// Sets the permissions of the directory and everything in it. A missing area gets its
  /// permissions when it is created.
  func apply(
    _ permissions: Permissions, to directory: borrowing Directory
  ) throws(GroupError) {
    try applyHere(permissions, to: directory)
    for area in areas {
      guard let found = try area.openIfThere(in: directory) else { continue }
      try area.apply(permissions, to: found)
    }
  }

  private func applyHere(
    _ permissions: Permissions, to directory: borrowing Directory
  ) throws(GroupError) {
    try permissions.list(access).set(.access, on: directory, plainMode: mode)
    if let inherited {
      try permissions.inheritedList(inherited).set(.inherited, on: directory, plainMode: nil)
    }
    for file in files {
      let list = permissions.list(owner: 6, file.access)
      do { try directory.setAccess(list, ofFile: file.name) } catch {
        throw .failed("cannot set permissions of \(directory.path(of: file.name))", error)
      }
    }
  }

  /// Whether the directory and everything in it have exactly these permissions.
  func isSet(
    _ permissions: Permissions, on directory: borrowing Directory
  ) throws(SystemError) -> Bool {
    guard try permissions.list(access).isSet(.access, on: directory.descriptor, directory.path)
    else { return false }
    if let inherited {
      let list = permissions.inheritedList(inherited)
      guard try list.isSet(.inherited, on: directory.descriptor, directory.path) else {
        return false
      }
    }
    for file in files {
      let path = directory.path(of: file.name)
      let isSet = try permissions.list(owner: 6, file.access).isSet(
        .access, on: directory.openForInspection(file.name), path)
      if !isSet { return false }
    }
    for area in areas where try directory.status(of: area.name) != nil {
      let found = try directory.openDirectory(area.name)
      if try !area.isSet(permissions, on: found) { return false }
    }
    return true
  }
}

extension AccessList {
  fileprivate func set(
    _ use: Use, on directory: borrowing Directory, plainMode: UInt32?
  ) throws(GroupError) {
    do {
      if try !isSet(use, on: directory.descriptor, directory.path) {
        try directory.descriptor.setAccess(self, use, path: directory.path)
      }
      guard let plainMode else { return }
      let mode = plainMode | UInt32(mask) << 3
      if try directory.status().mode != mode { try directory.setMode(mode) }
    } catch  where error.isUnsupported {
      throw GroupError(
        .system,
        "the file system of \(directory.path) does not support access control lists, which a group"
          + " of several users needs",
        advice: "choose a directory on ext4, xfs, btrfs or tmpfs with --root DIR")
    } catch {
      throw .failed("cannot set permissions", error)
    }
  }

  fileprivate func isSet(
    _ use: Use, on entry: borrowing Descriptor, _ path: String
  ) throws(SystemError) -> Bool {
    let found = try entry.accessBytes(use, path: path)
    return isPlain ? found == nil : found == bytes
  }
}
