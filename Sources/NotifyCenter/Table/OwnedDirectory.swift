import Platform

/// Directories that users create for themselves in a directory that is open to every member. The
/// name is the user's number, with a suffix if another member took that name. The owner counts.
enum OwnedDirectory {
  private static let temporaryPrefix = ".new-"

  /// The names of the user's directories.
  static func names(
    of uid: UInt32, in parent: borrowing Directory
  ) throws(SystemError) -> [String] {
    try parent.names().filter { name in
      guard name == "\(uid)" || name.hasPrefix("\(uid).") else { return false }
      let status = (try? parent.status(of: name)) ?? nil
      return status?.kind == .directory && status?.ownerID == uid
    }
  }

  /// Creates a directory, under a temporary name until it is complete.
  static func make(
    in parent: borrowing Directory, mode: UInt32, _ onStep: OnStep,
    _ fill: (borrowing Directory) throws(SystemError) -> Void
  ) throws(SystemError) -> Directory {
    sweep(parent)
    let uid = currentUserID()
    let temporary = temporaryName(prefix: temporaryPrefix)
    do {
      let made = try parent.makeDirectory(temporary, mode: mode)
      try fill(made)
      onStep?(.directoryMade)
      return try parent.openDirectory(try nameFinally(temporary, for: uid, in: parent))
    } catch {
      try? parent.removeTree(temporary)
      throw error
    }
  }

  private static func nameFinally(
    _ temporary: String, for uid: UInt32, in parent: borrowing Directory
  ) throws(SystemError) -> String {
    var name = "\(uid)"
    while true {
      do {
        try parent.rename(temporary, to: name, replacing: false)
        return name
      } catch {
        guard error.isExisting else { throw error }
        if try names(of: uid, in: parent).contains(name) {
          // Another process of this user was faster.
          try parent.removeTree(temporary)
          return name
        }
        name = temporaryName(prefix: "\(uid).")
      }
    }
  }

  /// Removes incomplete directories that dead processes of this user left over a minute ago.
  private static func sweep(_ parent: borrowing Directory) {
    let limit = Int64(clamping: wallNowNs()) - 60_000_000_000
    for name in (try? parent.names()) ?? [] where name.hasPrefix(temporaryPrefix) {
      let status = (try? parent.status(of: name)) ?? nil
      guard let status, status.ownerID == currentUserID(), status.changedAtNs < limit else {
        continue
      }
      try? parent.removeTree(name)
    }
  }
}
