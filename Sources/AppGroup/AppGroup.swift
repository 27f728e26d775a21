import Platform

/// A named set of processes that share one container: the same id leads every member, whatever
/// its environment, to the same directories; anyone else is refused.
///
/// This module knows identity, places, roles and permissions. It refuses to know what is kept in
/// the container.
public struct AppGroup: Sendable {
  /// Where a new group lies.
  public enum Kind: String, Hashable, Sendable {
    /// One user's own: in the home directory and a runtime directory of that user.
    case user
    /// Several users': in `/var/lib/framebus` and `/run/framebus`; made by root.
    case system
  }

  public let id: GroupID
  /// The durable part: what survives a reboot.
  public let containerPath: String
  /// The volatile part: sockets and locks. It goes at reboot and is made again on open.
  public let runPath: String
  /// Sockets and locks of streams. Members who may publish may write here.
  public var streamsPath: String { runPath + "/streams" }

  /// Opens a group as a member of it.
  /// - Parameter root: a directory that holds `state/ID` and `run/ID` instead of the usual places.
  /// - Throws: ``GroupError``: unknown group, no member, untrustworthy directories.
  public static func open(_ id: GroupID, root: String? = nil) throws(GroupError) -> AppGroup {
    let group = AppGroup(id, root: root)
    do {
      _ = try Directory(path: group.containerPath)
    } catch {
      throw GroupError(
        .unknown, "there is no group \(id)", advice: "create it with `framebus group create \(id)`")
    }
    return group
  }

  /// Makes a group whose owner is the calling user.
  public static func create(
    _ id: GroupID, root: String? = nil, kind: Kind = .user
  ) throws(GroupError) -> AppGroup {
    let group = AppGroup(id, root: root)
    do {
      try makeDirectories(group.containerPath)
      try makeDirectories(group.streamsPath)
    } catch {
      throw GroupError(.system, "cannot make the group \(id): \(error)", advice: "check the path")
    }
    return group
  }

  /// The roles that the manifest lets a user hold, whose ids the kernel vouches for.
  public func roles(uid: UInt32, gid: UInt32) -> [Role] {
    uid == currentUserID() ? Role.publishing : []
  }

  /// Whether the user holds any role.
  public func admits(uid: UInt32, gid: UInt32) -> Bool { !roles(uid: uid, gid: gid).isEmpty }

  private init(_ id: GroupID, root: String?) {
    let base = root ?? "/tmp/framebus-\(currentUserID())"
    self.id = id
    containerPath = "\(base)/state/\(id)"
    runPath = "\(base)/run/\(id)"
  }

  private static func makeDirectories(_ path: String) throws(SystemError) {
    var directory = try Directory(path: "/")
    for name in path.split(separator: "/").map(String.init) {
      if try directory.status(of: name) == nil {
        directory = try directory.makeDirectory(name, mode: 0o700)
      } else {
        directory = try Directory(path: directory.path(of: name))
      }
    }
  }
}
