import Platform

/// A named set of processes that share one container: the same id leads every member, whatever
/// its environment, to the same directories; anyone else is refused.
///
/// This module knows identity, places, roles and permissions. It refuses to know what is kept in
/// the container. Layout and failures: docs/design/app-group.md.
public struct AppGroup: Sendable {
  /// Where a new group lies.
  public enum Kind: String, Hashable, Sendable {
    /// One user's own: in the home directory and a runtime directory of that user.
    case user
    /// Several users': in `/var/lib/framebus` and `/run/framebus`; made by root.
    case system
  }

  public let id: GroupID
  /// The durable part: what survives a reboot. Members may look; the owner alone writes.
  public let containerPath: String
  /// The volatile part: sockets and locks. It goes at reboot and is made again on open.
  public let runPath: String
  /// Sockets and locks of streams. Members who may publish may write here; it is sticky, so that
  /// none can replace another's.
  public let streamsPath: String
  /// Named semaphores, with the same permissions.
  public let semaphoresPath: String
  /// Named notifications: who may post and observe which is told by the permissions of its parts.
  public let notifyPath: String
  /// Mailboxes: their sockets and locks, with the permissions of `streams`.
  public var mailboxesPath: String { notifyPath + "/" + NotifyPlaces.mailboxesName }
  /// Logs: their newest lines, in memory that the members share.
  public let logSegmentsPath: String
  /// Logs as they outlast a reboot. Every member may add to them and read them.
  public var logsPath: String { containerPath + "/" + LogPlaces.directoryName }
  /// The user who decides about the group.
  public let ownerID: UInt32
  /// What a command line needs besides the id to find the group.
  private let findingOption: String
  let membership: Membership

  /// The longest name of a stream, in bytes, whose socket's path fits (unix(7) allows 107 bytes),
  /// with 16 bytes to spare for a temporary name; 8…48.
  public var maximumStreamNameBytes: Int {
    RunDirectory.maximumNameBytes(streamsPath: streamsPath)
  }

  /// Opens a group as a member of it, and makes its run directory again after a reboot.
  /// - Parameter root: a directory that holds `state/ID` and `run/ID` instead of the usual
  ///   places; nil looks for a system group and then for one of the calling user.
  /// - Throws: ``GroupError``: unknown group, no member, broken manifest, or directories that
  ///   somebody else could have planted.
  /// - Complexity: some 40 system calls; blocks at most 10 s, while another process makes the run
  ///   directory.
  public static func open(_ id: GroupID, root: String? = nil) throws(GroupError) -> AppGroup {
    let container = try find(id, root: root)
    let place = container.place
    let read = try container.whileThere { () throws(GroupError) in
      let read = try container.read()
      let roles = read.manifest.roles(uid: currentUserID(), gids: currentGroupIDs())
      if roles.isEmpty { throw .noMember(id, in: place) }
      try LogPlaces.makeIfMissing(in: container, read.manifest)
      return read
    }
    return try AppGroup(container, read, RunDirectory.open(of: id, read.manifest, in: place))
  }

  /// The roles that the manifest lets a user hold, whose ids the kernel vouches for
  /// (`SO_PEERCRED`). The manifest is read again when it has changed.
  public func roles(uid: UInt32, gid: UInt32) -> [Role] {
    membership.roles(uid: uid, gids: [gid])
  }

  /// Whether the user holds any role.
  public func admits(uid: UInt32, gid: UInt32) -> Bool { !roles(uid: uid, gid: gid).isEmpty }

  /// The roles of the calling process.
  public var ownRoles: [Role] {
    membership.roles(uid: currentUserID(), gids: currentGroupIDs())
  }

  /// Refuses a role that the manifest does not give to the calling process.
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

  /// Whether the calling user is the only one in it.
  package var hasOneUser: Bool {
    guard let roles = membership.manifest()?.roles.values else { return false }
    let uid = currentUserID()
    return ownerID == uid && roles.allSatisfy { $0.gids.isEmpty && $0.uids.isSubset(of: [uid]) }
  }

  /// What the holders of a role get, besides the owner, of a file that is theirs; nil if the group
  /// has no such role.
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
    _ container: consuming Container, _ read: Container.ReadManifest, _ run: borrowing RunDirectory
  ) {
    id = container.id
    ownerID = container.place.ownerID
    findingOption = container.place.findingOption
    containerPath = container.directory.path
    runPath = run.directory.path
    streamsPath = run.streams.path
    semaphoresPath = run.semaphores.path
    notifyPath = run.notify.path
    logSegmentsPath = run.logs.path
    membership = Membership(container, read)
  }

  /// The places to look for a group, in order.
  static func choices(root: String?) -> [Place.Choice] {
    root.map { [.root($0)] } ?? [.system, .user]
  }

  /// Opens the container of a group, wherever it lies.
  static func find(_ id: GroupID, root: String?) throws(GroupError) -> Container {
    for choice in choices(root: root) {
      guard let place = try Place.find(choice, isMaking: false) else { continue }
      if let container = try Container.open(id, in: place) { return container }
    }
    throw .unknown(id, choices(root: root))
  }
}
