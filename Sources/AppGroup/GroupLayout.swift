import Platform

/// The areas of a group, one row each. Every member finds them under these names.
struct GroupLayout {
  static let streams = sticky("streams", publishing)
  static let semaphores = sticky("semaphores", publishing)
  static let mailboxes = sticky("mailboxes", publishing)
  /// The name tables of single users.
  static let users = sticky("users", creating)
  /// In both directories.
  static let logs = sticky("logs", creating)
  /// Not sticky: a user who may write a suite may also replace its file, whichever user created it.
  /// Turning the journal into a snapshot does that.
  static let defaults = Area(
    name: "defaults", mode: 0o700, access: publishing, inherited: publishing)
  /// The lock of the group's bridge to other machines, and what it has delivered. Not sticky, so
  /// that a bridge of another user can follow.
  static let bridge = Area(
    name: "bridge", mode: 0o700, access: publishing, inherited: publishing)
  static let notifyName = "notify"

  /// The durable directory.
  let container: Area
  /// The volatile directory.
  let run: Area

  init(_ manifest: Manifest) {
    func owned(_ name: String, _ areas: [Area]) -> Area {
      Area(name: name, mode: 0o700, access: Self.reading, areas: areas)
    }
    let id = manifest.id.description
    let policy = manifest.notifications
    container = owned(id, [Self.defaults, Self.logs])
    let notify = owned(
      Self.notifyName, [Self.users, Self.mailboxes] + policy.tables.map { $0.area(policy) })
    run = owned(id, [Self.streams, Self.semaphores, notify, Self.logs, Self.bridge])
  }

  /// Members may read; only the owner may write.
  private static let reading: Area.Access = { _ in 5 }
  /// Members who may publish may create and replace entries; others may read.
  private static let publishing: Area.Access = { Role.publishing.contains($0) ? 7 : 5 }
  /// All members may create and replace entries.
  private static let creating: Area.Access = { _ in 7 }

  /// A directory in which a member can replace only its own entries. They inherit access for all
  /// members, limited by the mode they are created with: connecting to a socket requires permission
  /// to write to it, so sockets get mode 0666; semaphores are created with mode 0660, and lock
  /// files with mode 0600, which leaves them to their owner.
  private static func sticky(_ name: String, _ access: @escaping Area.Access) -> Area {
    Area(name: name, mode: 0o1700, access: access, inherited: creating)
  }
}

extension NotifyTable {
  package static let rowsName = "rows"
  package static let epochName = "epoch"
  package static let observersName = "observers"

  /// The table's directory. File permissions decide what a member may do with a name. Write
  /// permission for `rows` allows posting and setting states; permission to create entries in
  /// `observers` allows observing. NotifyCenter defines the files.
  fileprivate func area(_ policy: NotificationPolicy) -> Area {
    func access(
      writing: AccessList.Permissions, observing: AccessList.Permissions
    ) -> Area.Access {
      { role in
        let mayWrite =
          policy.permits(.post, role: role, table: self)
          || policy.permits(.set, role: role, table: self)
        let mayObserve = policy.permits(.observe, role: role, table: self)
        return (mayWrite ? writing : 0) | (mayObserve ? observing : 0)
      }
    }
    // Only posters may write to an observer's entry, which wakes it.
    let observers = Area(
      name: Self.observersName, mode: 0o1700, access: access(writing: 5, observing: 7),
      inherited: access(writing: 7, observing: 5))
    return Area(
      name: directoryName, mode: 0o700, access: access(writing: 5, observing: 5),
      files: [
        .init(name: Self.rowsName, access: access(writing: 6, observing: 4)),
        .init(name: Self.epochName, access: access(writing: 6, observing: 6)),
      ], areas: [observers])
  }
}
