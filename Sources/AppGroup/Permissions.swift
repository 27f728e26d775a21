import Platform

/// How a manifest becomes permissions that the kernel enforces. The owner needs none; with no
/// further member there is no access control list at all.
struct Permissions {
  let manifest: Manifest
  let ownerID: UInt32
  /// On the container and on the run directory: members look, the owner alone changes.
  let looking: AccessList
  /// On the manifest.
  let reading: AccessList
  /// On `streams` and `semaphores`: who may publish may make and replace entries; they are sticky,
  /// so only their own.
  let publishing: AccessList
  /// On directories in which every member may make entries, sticky as well. And what entries of
  /// all these get, as far as the mode they are made with lets it: connecting to a
  /// socket takes permission to write to it, so sockets are given mode 0666, and semaphores are
  /// made with mode 0660; lock files are made with mode 0600, which leaves them to their owner.
  let connecting: AccessList
  /// What is inherited so names the owner of the group too, as it belongs to whoever made it.
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

  /// A list that gives each member what all its roles allow together, and nobody else anything.
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
    // The kernel looks at a user's own entry alone: what the groups would add goes in there.
    for uid in users.keys {
      for gid in UserAccount.find(uid)?.groupIDs ?? [] {
        users[uid, default: 0] |= groups[gid] ?? 0
      }
    }
    return AccessList(owner: owner, users: users, groups: groups)
  }

  /// Sets the permissions of a container, and of what members share in it.
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

  /// Sets the permissions of a directory in which members make entries.
  func apply(toShared directory: borrowing Directory) throws(GroupError) {
    try set(publishing, .access, on: directory, plainMode: 0o1700)
    try set(inherited, .inherited, on: directory, plainMode: nil)
  }

  /// Sets the permissions of a directory in which all members make entries.
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
      // With a list, the mode's group bits are the list's mask: what it lets anyone do at most.
      let mode = plainMode | UInt32(list.mask) << 3
      if try directory.status().mode != mode { try directory.setMode(mode) }
    } catch  where error.isUnsupported {
      throw GroupError(
        .system,
        "the file system of \(directory.path) has no access control lists, which a group of"
          + " several users needs",
        advice: "choose a place on ext4, xfs, btrfs or tmpfs with --root DIR")
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
