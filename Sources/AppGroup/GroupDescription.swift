import Platform

/// A description of a group, for `framebus group show` and `list`.
public struct GroupDescription: Sendable {
  /// The users and user groups that may hold one role.
  public struct RoleHolders: Sendable {
    /// The role.
    public let role: Role
    /// The users that may take it.
    public let uids: [UInt32]
    /// The groups of users that may take it.
    public let gids: [UInt32]
  }

  /// The kind of location.
  public enum Location: String, Sendable {
    /// In the directories of one user.
    case user
    /// In the directories of the system.
    case system
    /// In a directory that was named, as by `--root`.
    case root
  }

  /// The group's ID.
  public let id: GroupID
  /// The kind of its location.
  public let location: Location
  /// The user that owns its directories.
  public let ownerID: UInt32
  /// The directory on the disk.
  public let containerPath: String
  /// The directory in memory.
  public let runPath: String
  /// The directory of the streams' sockets.
  public let streamsPath: String
  /// Who may take which role.
  public let roles: [RoleHolders]
  /// The notifications that each role may post, observe and set.
  public let notifications: NotificationPolicy
  /// The roles of the calling process.
  public let ownRoles: [Role]
}

/// An entry in a list of groups. The group may be unusable.
public struct ListedGroup: Sendable {
  /// The group's ID.
  public let id: GroupID
  /// The kind of its location.
  public let location: GroupDescription.Location
  /// The user that owns its directories.
  public let ownerID: UInt32
  /// The directory on the disk.
  public let containerPath: String
  /// The roles of the calling process.
  public let ownRoles: [Role]
  /// The reason that the group is unusable; nil if it is usable.
  public let problem: GroupError?
}

extension AppGroup {
  /// Describes a group to its members, to its owner and to root. A call by the owner recreates the
  /// run directory after a reboot, and creates directories that earlier versions lacked.
  public static func describe(
    _ id: GroupID, root: String? = nil
  ) throws(GroupError) -> GroupDescription {
    let container = try find(id, root: root)
    let location = container.location
    let uid = currentUserID()
    let (manifest, ownRoles) = try container.whileThere { () throws(GroupError) in
      let manifest = try container.read().manifest
      let ownRoles = manifest.roles(uid: uid, gids: currentGroupIDs())
      if ownRoles.isEmpty && uid != location.ownerID && uid != 0 {
        throw .noMember(id, in: location)
      }
      try container.completeIfOwn(manifest)
      return (manifest, ownRoles)
    }
    let run = try RunDirectory.open(of: id, manifest, in: location)
    return GroupDescription(
      id: id, location: location.choice.described, ownerID: location.ownerID,
      containerPath: container.directory.path, runPath: run.path,
      streamsPath: run.path(of: GroupLayout.streams.name),
      roles: manifest.roles.sorted { $0.key < $1.key }.map {
        .init(role: $0.key, uids: $0.value.uids.sorted(), gids: $0.value.gids.sorted())
      }, notifications: manifest.notifications, ownRoles: ownRoles)
  }

  /// Lists all groups below `root`, or all system groups and all groups of the calling user.
  /// Includes groups that are unusable or closed to the caller.
  public static func list(root: String? = nil) throws(GroupError) -> [ListedGroup] {
    var listed: [ListedGroup] = []
    for choice in choices(root: root) {
      guard let location = try Location.find(choice, isMaking: false) else { continue }
      let state = try openTrusted(location.statePath, location.trusted)
      let names = try attempt("cannot list \(state.path)") { () throws(SystemError) in
        try state.names()
      }
      for name in names {
        guard let id = try? GroupID(name) else { continue }
        listed.append(entry(id, location, path: state.path(of: name)))
      }
    }
    return listed
  }

  private static func entry(_ id: GroupID, _ location: Location, path: String) -> ListedGroup {
    func listed(_ roles: [Role], _ problem: GroupError?) -> ListedGroup {
      ListedGroup(
        id: id, location: location.choice.described, ownerID: location.ownerID, containerPath: path,
        ownRoles: roles, problem: problem)
    }
    do {
      guard let container = try Container.open(id, in: location) else {
        return listed([], .unknown(id, [location.choice]))
      }
      let manifest = try container.read().manifest
      return listed(manifest.roles(uid: currentUserID(), gids: currentGroupIDs()), nil)
    } catch {
      return listed([], error)
    }
  }
}

extension Location.Choice {
  var described: GroupDescription.Location {
    switch self {
    case .user: .user
    case .system: .system
    case .root: .root
    }
  }
}
