import Platform

/// The prefix of temporary entries. A group ID never begins with a dot.
let temporaryPrefix = ".new-group-"

extension Directory {
  /// Creates an entry under a temporary name and renames it, so that no process sees it incomplete
  /// or without its permissions. A failure removes the temporary entry.
  /// - Parameter isReplacing: whether an existing entry is removed first; the caller must hold the
  ///   location's lock. If false, an entry that another process created meanwhile stays.
  borrowing func putInPlace(
    _ name: String, replacing isReplacing: Bool,
    _ make: (_ temporary: String) throws(GroupError) -> Void
  ) throws(GroupError) {
    let temporary = temporaryName(prefix: temporaryPrefix)
    do throws(GroupError) {
      try make(temporary)
      try attempt("cannot create \(path(of: name))") { () throws(SystemError) in
        if isReplacing { try removeTree(name) }
        do throws(SystemError) {
          try rename(temporary, to: name, replacing: false)
        } catch {
          if isReplacing || !error.isExisting { throw error }
          try removeTree(temporary)
        }
      }
    } catch {
      try? removeTree(temporary)
      throw error
    }
  }

  /// Creates a directory that belongs to the group's owner, even if root creates it.
  borrowing func makeOwned(
    _ name: String, mode: UInt32, by ownerID: UInt32
  ) throws(SystemError) -> Directory {
    let made = try makeDirectory(name, mode: mode)
    try made.give(to: ownerID)
    return made
  }

  /// Changes the owner of a directory that root created to the group's owner.
  borrowing func give(to ownerID: UInt32) throws(SystemError) {
    if currentUserID() != ownerID { try setOwner(ownerID, group: .max) }
  }

  /// Removes entries that dead processes left partly created or partly removed. The caller must
  /// hold the location's lock.
  /// - Returns: the paths that cannot be removed. That is not an error of this process: a member
  ///   may have created directories there that the owner may not empty, or that are too deep.
  @discardableResult
  borrowing func sweep() -> [String] {
    var left: [String] = []
    for name in (try? names()) ?? [] where name.hasPrefix(temporaryPrefix) {
      do { try removeTree(name) } catch { left.append(path(of: name)) }
    }
    return left
  }
}
