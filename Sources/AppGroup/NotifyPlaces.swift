import Platform

/// Where the notifications of a group lie: a directory for each table of names, and `users`, in
/// which users make tables of their own.
///
/// What a member may do with a name is what the kernel lets it do with these files: who may write
/// `rows` posts and sets states, who may make entries in `observers` observes. What they hold is
/// the business of NotifyCenter.
struct NotifyPlaces {
  static let directoryName = "notify"
  /// In which members who may publish make mailboxes, as they make streams in `streams`.
  static let mailboxesName = "mailboxes"
  private static let usersName = "users"
  private static let rowsName = "rows"
  private static let epochName = "epoch"
  private static let observersName = "observers"
  /// All a file has until NotifyCenter makes it longer.
  private static let firstBytes = 4096

  /// A table of names, and who may write in it.
  private struct Table {
    let name: String
    let writing: AccessList
  }

  private let permissions: Permissions
  private let tables: [Table]

  init(_ permissions: Permissions) {
    self.permissions = permissions
    tables = [
      Table(name: "names", writing: permissions.posting),
      Table(name: "framebus", writing: permissions.publishing),
    ]
  }

  /// Makes all of it in `directory`, which is new and empty.
  func make(in directory: borrowing Directory, ownerID: UInt32) throws(GroupError) {
    try attempt("cannot make \(directory.path)") { () throws(SystemError) in
      func make(
        _ name: String, _ mode: UInt32, in parent: borrowing Directory
      ) throws(SystemError) -> Directory {
        let made = try parent.makeDirectory(name, mode: mode)
        try give(made, to: ownerID)
        return made
      }
      _ = try make(Self.usersName, 0o1700, in: directory)
      _ = try make(Self.mailboxesName, 0o1700, in: directory)
      for table in tables {
        let made = try make(table.name, 0o700, in: directory)
        _ = try make(Self.observersName, 0o1700, in: made)
        for file in [Self.rowsName, Self.epochName] {
          _ = try made.makeFile(file, byteCount: Self.firstBytes, mode: 0o600, ownerID: ownerID)
        }
      }
    }
    try apply(to: directory)
  }

  func apply(to directory: borrowing Directory) throws(GroupError) {
    try permissions.set(permissions.looking, .access, on: directory, plainMode: 0o700)
    try permissions.apply(toJoined: open(Self.usersName, in: directory))
    try permissions.apply(toShared: open(Self.mailboxesName, in: directory))
    for table in tables {
      let inner = try open(table.name, in: directory)
      try permissions.set(permissions.looking, .access, on: inner, plainMode: 0o700)
      try permissions.apply(toJoined: open(Self.observersName, in: inner))
      try set(table.writing.ofFile, on: Self.rowsName, in: inner)
      try set(permissions.connecting.ofFile, on: Self.epochName, in: inner)
    }
  }

  func areSet(on directory: borrowing Directory) throws(SystemError) -> Bool {
    func has(
      _ list: AccessList, _ name: String, in parent: borrowing Directory
    ) throws(SystemError) -> Bool {
      try Permissions.has(list, .access, parent.openForLooking(name), parent.path(of: name))
    }
    func isJoined(_ name: String, in parent: borrowing Directory) throws(SystemError) -> Bool {
      let joined = try parent.openDirectory(name)
      guard try Permissions.has(permissions.connecting, .access, joined) else { return false }
      return try Permissions.has(permissions.connecting, .inherited, joined)
    }
    guard try Permissions.has(permissions.looking, .access, directory),
      try isJoined(Self.usersName, in: directory),
      try permissions.areSet(onShared: directory.openDirectory(Self.mailboxesName))
    else { return false }
    for table in tables {
      let inner = try directory.openDirectory(table.name)
      guard try Permissions.has(permissions.looking, .access, inner),
        try isJoined(Self.observersName, in: inner),
        try has(table.writing.ofFile, Self.rowsName, in: inner),
        try has(permissions.connecting.ofFile, Self.epochName, in: inner)
      else { return false }
    }
    return true
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
      try directory.openForLooking(name).setAccess(list, .access, path: path)
    } catch {
      throw .failed("cannot set permissions of \(path)", error)
    }
  }
}

extension AccessList {
  /// The same for a file, which nobody searches.
  fileprivate var ofFile: AccessList {
    AccessList(
      owner: owner & 6, users: users.mapValues { $0 & 6 }, groups: groups.mapValues { $0 & 6 })
  }
}
