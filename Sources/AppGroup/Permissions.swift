import Platform

/// Access lists that enforce a manifest in the kernel. The owner needs no entry, so a group without
/// other members has no access control lists.
struct Permissions {
  let manifest: Manifest
  let ownerID: UInt32

  init(_ manifest: Manifest, ownerID: UInt32) {
    self.manifest = manifest
    self.ownerID = ownerID
  }

  /// An access list that gives each member the union of its roles' permissions, and others none.
  func list(owner: AccessList.Permissions = 7, _ access: Area.Access) -> AccessList {
    var users: [UInt32: AccessList.Permissions] = [:]
    var groups: [UInt32: AccessList.Permissions] = [:]
    for (role, holders) in manifest.roles {
      let permissions = access(role)
      if permissions == 0 { continue }
      for uid in holders.uids where uid != ownerID { users[uid, default: 0] |= permissions }
      for gid in holders.gids { groups[gid, default: 0] |= permissions }
    }
    // The kernel applies only a user's own entry if there is one, so the permissions of the user's
    // groups are merged into it (acl(5)).
    for uid in users.keys {
      for gid in UserAccount.find(uid)?.groupIDs ?? [] {
        users[uid, default: 0] |= groups[gid] ?? 0
      }
    }
    return AccessList(owner: owner, users: users, groups: groups)
  }

  /// The list of entries that members create: names the group's owner, because an entry belongs to
  /// its creator.
  func inheritedList(_ access: Area.Access) -> AccessList { list(access).naming(ownerID, 7) }
}
