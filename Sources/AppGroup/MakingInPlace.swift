import Platform

/// What temporary entries begin with; group ids never begin with a dot.
let temporaryPrefix = ".new-group-"

/// Has an entry made under a temporary name, which then becomes its own, so that nobody meets it
/// half made or without its permissions. What a failure leaves is removed.
/// - Parameter isReplacing: whether what has the name is removed first, which is for the place's
///   lock; without, what another process put there meanwhile stays.
func putInPlace(
  _ name: String, in parent: borrowing Directory, replacing isReplacing: Bool,
  _ make: (_ temporary: String) throws(GroupError) -> Void
) throws(GroupError) {
  let temporary = temporaryName(prefix: temporaryPrefix)
  do throws(GroupError) {
    try make(temporary)
    try attempt("cannot make \(parent.path(of: name))") { () throws(SystemError) in
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

/// Makes a directory that belongs to the group's owner, whoever makes it.
func makeOwned(
  _ name: String, mode: UInt32, in parent: borrowing Directory, ownerID: UInt32
) throws(GroupError) -> Directory {
  try attempt("cannot make \(parent.path(of: name))") { () throws(SystemError) in
    let made = try parent.makeDirectory(name, mode: mode)
    try give(made, to: ownerID)
    return made
  }
}

/// Hands a directory that root made to the group's owner.
func give(_ directory: borrowing Directory, to ownerID: UInt32) throws(SystemError) {
  if currentUserID() != ownerID { try directory.setOwner(ownerID, group: .max) }
}

/// Removes what dead processes left half made or half removed. Only under the place's lock.
/// - Returns: the paths of what cannot be removed. This is not an error: a member may
///   have made directories there that the group's owner may not empty, or that are too deep.
@discardableResult
func sweep(_ directory: borrowing Directory) -> [String] {
  var left: [String] = []
  for name in (try? directory.names()) ?? [] where name.hasPrefix(temporaryPrefix) {
    do { try directory.removeTree(name) } catch { left.append(directory.path(of: name)) }
  }
  return left
}
