import Platform

/// The prefix of temporary entries. A group ID never begins with a dot.
let temporaryPrefix = ".new-group-"

/// Creates an entry under a temporary name and renames it, so that no process sees it incomplete
/// or without its permissions. A failure removes the temporary entry.
/// - Parameter isReplacing: whether an existing entry is removed first; the caller must hold the
///   location's lock. If false, an entry that another process created meanwhile stays.
func putInPlace(
  _ name: String, in parent: borrowing Directory, replacing isReplacing: Bool,
  _ make: (_ temporary: String) throws(GroupError) -> Void
) throws(GroupError) {
  let temporary = temporaryName(prefix: temporaryPrefix)
  do throws(GroupError) {
    try make(temporary)
    try attempt("cannot create \(parent.path(of: name))") { () throws(SystemError) in
      if isReplacing { try parent.removeTree(name) }
      do throws(SystemError) {
        try parent.rename(temporary, to: name, replacing: false)
      } catch {
        if isReplacing || !error.isExisting { throw error }
        try parent.removeTree(temporary)
      }
    }
  } catch {
    try? parent.removeTree(temporary)
    throw error
  }
}

/// Creates a directory that belongs to the group's owner, even if root creates it.
func makeOwned(
  _ name: String, mode: UInt32, in parent: borrowing Directory, ownerID: UInt32
) throws(GroupError) -> Directory {
  try attempt("cannot create \(parent.path(of: name))") { () throws(SystemError) in
    let made = try parent.makeDirectory(name, mode: mode)
    try give(made, to: ownerID)
    return made
  }
}

/// Changes the owner of a directory that root created to the group's owner.
func give(_ directory: borrowing Directory, to ownerID: UInt32) throws(SystemError) {
  if currentUserID() != ownerID { try directory.setOwner(ownerID, group: .max) }
}

/// Removes entries that dead processes left partly created or partly removed. The caller must hold
/// the location's lock.
/// - Returns: the paths that cannot be removed. That is not an error of this process: a member may
///   have created directories there that the owner may not empty, or that are too deep.
@discardableResult
func sweep(_ directory: borrowing Directory) -> [String] {
  var left: [String] = []
  for name in (try? directory.names()) ?? [] where name.hasPrefix(temporaryPrefix) {
    do { try directory.removeTree(name) } catch { left.append(directory.path(of: name)) }
  }
  return left
}
