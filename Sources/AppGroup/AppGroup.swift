import Platform

/// A named set of processes that share one container. The group ID leads every member to the same
/// directories, whatever its environment. The kernel denies access to everyone else.
///
/// This module handles identity, directories, roles and permissions. It refuses to interpret the
/// container's contents. Layout and failures: docs/design/app-group.md.
public struct AppGroup: Sendable {
  /// The location of a new group.
  public enum Kind: String, Hashable, Sendable {
    /// For one user: in that user's home directory and runtime directory.
    case user
    /// For several users: in `/var/lib/framebus` and `/run/framebus`; created by root.
    case system
  }

  /// The group's ID.
  public let id: GroupID
  /// The durable directory, which survives a reboot. Members may read it; only the owner writes.
  public let containerPath: String
  /// The volatile directory, for sockets and locks. A reboot removes it; `open` creates it again.
  public let runPath: String
  /// Sockets and locks of streams. Members who may publish may write here. The directory is
  /// sticky, so a user cannot replace another user's files.
  public var streamsPath: String { runPath + "/" + GroupLayout.streams.name }
  /// Named semaphores, with the same permissions.
  public var semaphoresPath: String { runPath + "/" + GroupLayout.semaphores.name }
  /// Named notifications. The permissions of its entries decide who may post and observe which.
  public var notifyPath: String { runPath + "/" + GroupLayout.notifyName }
  /// Sockets and locks of mailboxes, with the permissions of `streams`.
  public var mailboxesPath: String { notifyPath + "/" + GroupLayout.mailboxes.name }
  /// The name tables of single users, which they create.
  package var notifyUsersPath: String { notifyPath + "/" + GroupLayout.users.name }
  /// The newest lines of logs, in memory that the members share.
  public var logSegmentsPath: String { runPath + "/" + GroupLayout.logs.name }
  /// Log files that survive a reboot. Every member may append to and read them.
  public var logsPath: String { containerPath + "/" + GroupLayout.logs.name }
  /// The user who administers the group.
  public let ownerID: UInt32
  /// The option that a command line needs in addition to the ID to find the group.
  private let findingOption: String
  let membership: Membership

  /// The longest stream name, in bytes: 8…48. The path of the stream's socket has at most 107 bytes
  /// (unix(7)), of which 16 are reserved for the suffix of a temporary name.
  public var maximumStreamNameBytes: Int {
    RunDirectory.maximumNameBytes(streamsPath: streamsPath)
  }

  /// Opens a group of which the caller is a member. Recreates its run directory after a reboot.
  /// - Parameter root: a directory that holds `state/ID` and `run/ID` instead of the default
  ///   directories; nil searches for a system group, then for a group of the calling user.
  /// - Throws: ``GroupError``: unknown group, caller not a member, malformed manifest, or
  ///   directories that another user could have planted.
  /// - Complexity: some 40 system calls. Blocks at most 10 s while another process creates the run
  ///   directory.
  public static func open(_ id: GroupID, root: String? = nil) throws(GroupError) -> AppGroup {
    let container = try find(id, root: root)
    let location = container.location
    let read = try container.whileThere { () throws(GroupError) in
      let read = try container.read()
      let roles = read.manifest.roles(uid: currentUserID(), gids: currentGroupIDs())
      if roles.isEmpty { throw .noMember(id, in: location) }
      try container.completeIfOwn(read.manifest)
      return read
    }
    let run = try RunDirectory.open(of: id, read.manifest, in: location)
    return AppGroup(container, read, runPath: run.path)
  }

  /// The roles that the manifest grants to a user. The IDs must come from the kernel
  /// (`SO_PEERCRED`). A changed manifest is read again.
  public func roles(uid: UInt32, gid: UInt32) -> [Role] {
    membership.roles(uid: uid, gids: [gid])
  }

  /// Whether the user holds any role.
  public func admits(uid: UInt32, gid: UInt32) -> Bool { !roles(uid: uid, gid: gid).isEmpty }

  /// The roles of the calling process.
  public var ownRoles: [Role] {
    membership.roles(uid: currentUserID(), gids: currentGroupIDs())
  }

  /// Throws if the manifest does not grant the role to the calling process.
  public func require(_ role: Role) throws(GroupError) {
    if ownRoles.contains(role) { return }
    let uid = currentUserID()
    let held = ownRoles.map(\.description).joined(separator: ", ")
    throw GroupError(
      .notPermitted,
      "\(userText(uid)) does not hold the role \(role) in the group \(id)"
        + (held.isEmpty ? "" : ", only \(held)"),
      advice: "ask \(userText(ownerID)) for `framebus group grant \(role) --uid \(uid)"
        + " --group \(id)\(findingOption)`, or take another role with --role")
  }

  /// The lock and the volatile state of the group's bridge to other machines.
  package var bridgePath: String { runPath + "/" + GroupLayout.bridge.name }

  /// Opens the directory of the group's settings.
  package func openDefaults() throws(GroupError) -> Directory {
    try membership.open(GroupLayout.defaults)
  }

  /// Whether the calling user owns the group and is its only member.
  package var hasOneUser: Bool {
    guard let roles = membership.manifest()?.roles.values else { return false }
    let uid = currentUserID()
    return ownerID == uid && roles.allSatisfy { $0.gids.isEmpty && $0.uids.isSubset(of: [uid]) }
  }

  /// The users that the manifest lists for a role by themselves, not as members of a user group.
  package func users(of role: Role) -> Set<UInt32> {
    membership.manifest()?.roles[role]?.uids ?? []
  }

  /// The access list of a file for the owner and the holders of a role; nil if the group has no
  /// such role.
  package func accessList(
    of role: Role, _ permissions: AccessList.Permissions
  ) -> AccessList? {
    guard let holders = membership.manifest()?.roles[role] else { return nil }
    let users = holders.uids.subtracting([ownerID])
    return AccessList(
      owner: 6, users: Dictionary(uniqueKeysWithValues: users.map { ($0, permissions) }),
      groups: Dictionary(uniqueKeysWithValues: holders.gids.map { ($0, permissions) }))
  }

  init(
    _ container: consuming Container, _ read: Container.ReadManifest, runPath: String
  ) {
    id = container.id
    ownerID = container.location.ownerID
    findingOption = container.location.findingOption
    containerPath = container.directory.path
    self.runPath = runPath
    membership = Membership(container, read)
  }

  /// The locations to search for a group, in order.
  static func choices(root: String?) -> [Location.Choice] {
    root.map { [.root($0)] } ?? [.system, .user]
  }

  /// Finds and opens the container of a group.
  static func find(_ id: GroupID, root: String?) throws(GroupError) -> Container {
    for choice in choices(root: root) {
      guard let location = try Location.find(choice, isMaking: false) else { continue }
      if let container = try Container.open(id, in: location) { return container }
    }
    throw .unknown(id, choices(root: root))
  }
}
