import Platform

/// The permissions that enforce a manifest in the kernel. The owner needs no entry, so a group
/// without other members has no access control lists.
struct Permissions {
  let manifest: Manifest
  let ownerID: UInt32
  /// On the container and on the run directory: members may read, only the owner may write.
  let looking: AccessList
  /// On the manifest.
  let reading: AccessList
  /// On `streams` and `semaphores`: members who may publish may create and replace entries. Both
  /// are sticky, so a member can replace only its own.
  let publishing: AccessList
  /// On sticky directories in which every member may create entries. Entries of all these inherit
  /// it, limited by the mode they are created with. Connecting to a socket requires permission to
  /// write to it, so sockets get mode 0666; semaphores are created with mode 0660, and lock files
  /// with mode 0600, which only their owner can open.
  let connecting: AccessList
  /// The inherited list. It names the group's owner, because an entry belongs to its creator.
  private var inherited: AccessList { connecting.naming(ownerID, 7) }

  init(_ manifest: Manifest, ownerID: UInt32) {
    self.manifest = manifest
    self.ownerID = ownerID
    func list(
      owner: AccessList.Permissions = 7, _ permissions: (Role) -> AccessList.Permissions
    ) -> AccessList {
      Self.list(manifest, ownerID, owner: owner, permissions)
    }
    publishing = list { Role.publishing.contains($0) ? 7 : 5 }
    looking = list { _ in 5 }
    reading = list(owner: 6) { _ in 4 }
    connecting = list { _ in 7 }
  }

  /// An access list that gives each member the union of its roles' permissions, and others none.
  func list(_ permissions: (Role) -> AccessList.Permissions) -> AccessList {
    Self.list(manifest, ownerID, owner: 7, permissions)
  }

  private static func list(
    _ manifest: Manifest, _ ownerID: UInt32, owner: AccessList.Permissions,
    _ permissions: (Role) -> AccessList.Permissions
  ) -> AccessList {
    var users: [UInt32: AccessList.Permissions] = [:]
    var groups: [UInt32: AccessList.Permissions] = [:]
    for (role, holders) in manifest.roles {
      let permissions = permissions(role)
      if permissions == 0 { continue }
      for uid in holders.uids where uid != ownerID { users[uid, default: 0] |= permissions }
      for gid in holders.gids { groups[gid, default: 0] |= permissions }
    }
    // The kernel applies only a user's own entry if there is one, so the permissions of the user's
    // groups are merged into it (acl(5)).
    for uid in users.keys {
      for gid in UserAccount.find(uid)?.groupIDs ?? [] {
        users[uid, default: 0] |= groups[gid] ?? 0
      }
    }
    return AccessList(owner: owner, users: users, groups: groups)
  }

  /// Sets the permissions of a container and of its shared directories.
  func apply(toContainer container: borrowing Directory) throws(GroupError) {
    try set(looking, .access, on: container, plainMode: 0o700)
    try DefaultsPlace(self).applyIfThere(in: container)
    try LogPlaces.apply(self, in: container)
  }

  func apply(toRun run: borrowing RunDirectory) throws(GroupError) {
    try set(looking, .access, on: run.directory, plainMode: 0o700)
    try apply(toShared: run.streams)
    try apply(toShared: run.semaphores)
    try NotifyPlaces(self).apply(to: run.notify)
    try apply(toJoined: run.logs)
  }

  /// Sets the permissions of a directory in which members who may publish create entries.
  func apply(toShared directory: borrowing Directory) throws(GroupError) {
    try set(publishing, .access, on: directory, plainMode: 0o1700)
    try set(inherited, .inherited, on: directory, plainMode: nil)
  }

  /// Sets the permissions of a directory in which all members create entries.
  func apply(toJoined directory: borrowing Directory) throws(GroupError) {
    try set(connecting, .access, on: directory, plainMode: 0o1700)
    try set(inherited, .inherited, on: directory, plainMode: nil)
  }

  func set(
    _ list: AccessList, _ use: AccessList.Use, on directory: borrowing Directory,
    plainMode: UInt32?
  ) throws(GroupError) {
    do {
      if try !Self.has(list, use, directory) {
        try directory.descriptor.setAccess(list, use, path: directory.path)
      }
      guard let plainMode else { return }
      // With an access control list, the mode's group bits are the list's mask (acl(5)).
      let mode = plainMode | UInt32(list.mask) << 3
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

  /// Whether the directories have exactly these access lists.
  func areSet(
    onContainer container: borrowing Directory, run: borrowing RunDirectory
  ) throws(SystemError) -> Bool {
    guard try Self.has(looking, .access, container),
      try Self.has(looking, .access, run.directory),
      try DefaultsPlace(self).isSetIfThere(in: container)
    else { return false }
    guard try areSet(onShared: run.streams) else { return false }
    guard try areSet(onShared: run.semaphores) else { return false }
    guard try areSet(onJoined: run.logs), try LogPlaces.areSet(self, in: container) else {
      return false
    }
    return try NotifyPlaces(self).areSet(on: run.notify)
  }

  func areSet(onShared directory: borrowing Directory) throws(SystemError) -> Bool {
    guard try Self.has(publishing, .access, directory) else { return false }
    return try Self.has(inherited, .inherited, directory)
  }

  func areSet(onJoined directory: borrowing Directory) throws(SystemError) -> Bool {
    guard try Self.has(connecting, .access, directory) else { return false }
    return try Self.has(inherited, .inherited, directory)
  }

  static func has(
    _ list: AccessList, _ use: AccessList.Use, _ directory: borrowing Directory
  ) throws(SystemError) -> Bool {
    try has(list, use, directory.descriptor, directory.path)
  }

  static func has(
    _ list: AccessList, _ use: AccessList.Use, _ entry: borrowing Descriptor, _ path: String
  ) throws(SystemError) -> Bool {
    let found = try entry.accessBytes(use, path: path)
    return list.isPlain ? found == nil : found == list.bytes
  }
}
