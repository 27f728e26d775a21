import Platform

/// The directories of a group's notifications: one for each name table, `users` for the tables of
/// single users, and `mailboxes`.
///
/// File permissions decide what a member may do with a name. Write permission for `rows` allows
/// posting and setting states; permission to create entries in `observers` allows observing.
/// NotifyCenter defines the files.
struct NotifyPlaces {
  static let directoryName = "notify"
  /// The directory in which members who may publish create mailboxes.
  static let mailboxesName = "mailboxes"
  private static let usersName = "users"
  private static let rowsName = "rows"
  private static let epochName = "epoch"
  private static let observersName = "observers"
  /// The initial size of a file, which NotifyCenter extends.
  private static let firstBytes = 4096

  private let permissions: Permissions
  private let policy: NotificationPolicy
  private let ownerID: UInt32

  init(_ permissions: Permissions) {
    self.permissions = permissions
    policy = permissions.manifest.notifications
    ownerID = permissions.ownerID
  }

  // MARK: Creation

  /// Creates all directories and files in `directory`, which is new and empty.
  func make(in directory: borrowing Directory) throws(GroupError) {
    try permissions.set(permissions.looking, .access, on: directory, plainMode: 0o700)
    try permissions.apply(toJoined: make(Self.usersName, 0o1700, in: directory))
    try permissions.apply(toShared: make(Self.mailboxesName, 0o1700, in: directory))
    for table in policy.tables { try make(table, named: table.directoryName, in: directory) }
  }

  /// The tables of a policy that have no directory, as after a change of the manifest.
  static func missing(
    _ policy: NotificationPolicy, in directory: borrowing Directory
  ) throws(GroupError) -> [NotifyTable] {
    try attempt("cannot list \(directory.path)") { () throws(SystemError) in
      let names = Set(try directory.names())
      return policy.tables.filter { !names.contains($0.directoryName) }
    }
  }

  func make(
    _ table: NotifyTable, named name: String, in directory: borrowing Directory
  ) throws(GroupError) {
    let made = try make(name, 0o700, in: directory)
    _ = try make(Self.observersName, 0o1700, in: made)
    try attempt("cannot create files in \(made.path)") { () throws(SystemError) in
      for file in [Self.rowsName, Self.epochName] {
        _ = try made.makeFile(file, byteCount: Self.firstBytes, mode: 0o600, ownerID: ownerID)
      }
    }
    try apply(table, to: made)
  }

  private func make(
    _ name: String, _ mode: UInt32, in parent: borrowing Directory
  ) throws(GroupError) -> Directory {
    try attempt("cannot create \(parent.path(of: name))") { () throws(SystemError) in
      let made = try parent.makeDirectory(name, mode: mode)
      try give(made, to: ownerID)
      return made
    }
  }

  // MARK: Permissions

  /// The access lists of a table's files.
  private struct Lists {
    /// On the directory: members who may post, set or observe may search it.
    let looking: AccessList
    let rows: AccessList
    let epoch: AccessList
    /// On the directory of observers, and inherited by its entries. Only posters may write to an
    /// entry, which wakes its observer.
    let observers: AccessList
    let entries: AccessList
  }

  private func lists(_ table: NotifyTable) -> Lists {
    func list(writing: AccessList.Permissions, observing: AccessList.Permissions) -> AccessList {
      permissions.list { role in
        let mayWrite =
          policy.permits(.post, role: role, table: table)
          || policy.permits(.set, role: role, table: table)
        let mayObserve = policy.permits(.observe, role: role, table: table)
        return (mayWrite ? writing : 0) | (mayObserve ? observing : 0)
      }
    }
    return Lists(
      looking: list(writing: 5, observing: 5), rows: list(writing: 6, observing: 4),
      epoch: list(writing: 6, observing: 6), observers: list(writing: 5, observing: 7),
      entries: list(writing: 7, observing: 5).naming(ownerID, 7))
  }

  /// Sets the permissions of all existing directories and files.
  func apply(to directory: borrowing Directory) throws(GroupError) {
    try permissions.set(permissions.looking, .access, on: directory, plainMode: 0o700)
    try permissions.apply(toJoined: open(Self.usersName, in: directory))
    try permissions.apply(toShared: open(Self.mailboxesName, in: directory))
    for table in policy.tables {
      try apply(table, to: open(table.directoryName, in: directory))
    }
  }

  private func apply(
    _ table: NotifyTable, to directory: borrowing Directory
  ) throws(GroupError) {
    let lists = lists(table)
    try permissions.set(lists.looking, .access, on: directory, plainMode: 0o700)
    let observers = try open(Self.observersName, in: directory)
    try permissions.set(lists.observers, .access, on: observers, plainMode: 0o1700)
    try permissions.set(lists.entries, .inherited, on: observers, plainMode: nil)
    try set(lists.rows, on: Self.rowsName, in: directory)
    try set(lists.epoch, on: Self.epochName, in: directory)
  }

  private func open(
    _ name: String, in directory: borrowing Directory
  ) throws(GroupError) -> Directory {
    do {
      return try directory.openDirectory(name)
    } catch {
      throw .failed("cannot open \(directory.path(of: name))", error)
    }
  }

  private func set(
    _ list: AccessList, on name: String, in directory: borrowing Directory
  ) throws(GroupError) {
    let path = directory.path(of: name)
    do {
      try directory.setAccess(list.ofFile, ofFile: name)
    } catch {
      throw .failed("cannot set permissions of \(path)", error)
    }
  }

  func areSet(on directory: borrowing Directory) throws(SystemError) -> Bool {
    guard try Permissions.has(permissions.looking, .access, directory),
      try permissions.areSet(onJoined: directory.openDirectory(Self.usersName)),
      try permissions.areSet(onShared: directory.openDirectory(Self.mailboxesName))
    else { return false }
    for table in policy.tables {
      let lists = lists(table)
      let inner = try directory.openDirectory(table.directoryName)
      let observers = try inner.openDirectory(Self.observersName)
      guard try Permissions.has(lists.looking, .access, inner),
        try Permissions.has(lists.observers, .access, observers),
        try Permissions.has(lists.entries, .inherited, observers),
        try has(lists.rows, Self.rowsName, in: inner),
        try has(lists.epoch, Self.epochName, in: inner)
      else { return false }
    }
    return true
  }

  private func has(
    _ list: AccessList, _ name: String, in parent: borrowing Directory
  ) throws(SystemError) -> Bool {
    try Permissions.has(
      list.ofFile, .access, parent.openForLooking(name), parent.path(of: name))
  }
}

extension AccessList {
  /// The same list for a file: without the owner's permission to search.
  fileprivate var ofFile: AccessList { AccessList(owner: 6, users: users, groups: groups) }
}
