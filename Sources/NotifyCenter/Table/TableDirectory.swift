import AppGroup
import CNotifyLayout
import Platform

/// Opens the tables of a group: one directory each, below its run directory.
struct TableDirectory {
  let group: AppGroup
  let onStep: OnStep

  /// Identifies a table by the names that it holds.
  enum Kind: Hashable, Sendable {
    case process
    case user
    case group(NotifyTable)
  }

  func kind(of name: NotificationName) -> Kind {
    switch name.scope {
    case .process: .process
    case .user: .user
    case .system, .group: .group(group.notifyTable(of: name.text))
    }
  }

  /// The existing tables. A user's own table exists once one of its names was used.
  func kinds() throws(NotifyError) -> [Kind] {
    let own = try NotifyError.attempt(
      OwnedDirectory.names(of: currentUserID(), in: Directory(path: group.notifyUsersPath)))
    return [.process] + (own.isEmpty ? [] : [.user]) + group.notifyTables.map(Kind.group)
  }

  func open(_ kind: Kind) throws(NotifyError) -> NameTable {
    if kind == .process { return try processTable() }
    guard case .group(let table) = kind else { return try openOwn() }
    let notify = try NotifyError.attempt(Directory(path: group.notifyPath))
    return try open(table.directoryName, in: notify, ownerID: group.ownerID)
  }

  /// This user's own table, created if missing.
  private func openOwn() throws(NotifyError) -> NameTable {
    let uid = currentUserID()
    let users = try NotifyError.attempt(Directory(path: group.notifyUsersPath))
    let names = try NotifyError.attempt { () throws(SystemError) in
      if try OwnedDirectory.names(of: uid, in: users).isEmpty {
        _ = try OwnedDirectory.make(in: users, mode: 0o700, nil) { made throws(SystemError) in
          _ = try made.makeDirectory(NotifyTable.observersName, mode: 0o1700)
          for name in [NotifyTable.rowsName, NotifyTable.epochName] {
            _ = try made.makeFile(name, byteCount: Int(NC_EPOCH_BYTES), mode: 0o600)
          }
        }
      }
      // Listed again, so that several processes that create one at once agree on it.
      return try OwnedDirectory.names(of: uid, in: users)
    }
    return try open(names.first ?? "\(uid)", in: users, ownerID: uid)
  }

  private func open(
    _ name: String, in parent: borrowing Directory, ownerID: UInt32
  ) throws(NotifyError) -> NameTable {
    let directory = try openTable(name, in: parent)
    let epoch = try openFile(NotifyTable.epochName, in: directory, ownerID)
    let rows = try openFile(NotifyTable.rowsName, in: directory, ownerID)
    let bells = try NotifyError.attempt { () throws(SystemError) in
      Doorbells(
        try directory.openDirectory(NotifyTable.observersName), try EpochWord(epoch.file), group,
        onStep)
    }
    let path = directory.path(of: NotifyTable.rowsName)
    return try NameTable(
      rows.file, path: path, isWritable: rows.isWritable, bells: bells, onStep)
  }

  private func openTable(
    _ name: String, in parent: borrowing Directory
  ) throws(NotifyError) -> Directory {
    do {
      return try parent.openDirectory(name)
    } catch {
      if error.isMissing { throw .missingTable(path: parent.path(of: name)) }
      throw error.isAccessRefusal ? .notPermitted(path: parent.path(of: name)) : .system(error)
    }
  }

  private struct OpenFile: ~Copyable {
    let file: Descriptor
    let isWritable: Bool
  }

  /// Opens a file that the table's owner made, for writing if that is allowed.
  private func openFile(
    _ name: String, in directory: borrowing Directory, _ ownerID: UInt32
  ) throws(NotifyError) -> OpenFile {
    let opened = try NotifyError.attempt { () throws(SystemError) -> OpenFile in
      do throws(SystemError) {
        return OpenFile(file: try directory.openForInspection(name), isWritable: true)
      } catch {
        guard error.isAccessRefusal else { throw error }
        return OpenFile(file: try directory.openForReading(name), isWritable: false)
      }
    }
    let path = directory.path(of: name)
    let status = try NotifyError.attempt(fileStatus(of: opened.file, path: path))
    // It may have further names: a process that can write it can link it, but gains no right.
    if status.kind == .file, status.ownerID == ownerID { return opened }
    throw .untrusted(path: path, why: "it is not the file that \(userText(ownerID)) made")
  }
}
