import AppGroup
import Confinement
import Platform

/// The user that a role runs as.
struct RoleUser {
  /// Nil for the host's user.
  let account: UserAccount?
  /// Why it is the host's user although the group has another for the role; nil if it is as it
  /// should be.
  var weakness: String?

  /// The measure that confinement reports, beside those of framebus-confine.
  var measure: Measure? { weakness.map { Measure("user", isOn: false, $0) } }
}

/// In a group of several users, a host that may change users starts each role as a user that the
/// manifest lists for it.
extension RoleStarter {
  /// The role's user: the one holder who does not hold the role host; else, the one holder besides
  /// root and the host's user; else, the host's user.
  /// - Throws: if that is the host's user, who does not hold the role.
  func user(of role: Role) throws(BroadcastError) -> RoleUser {
    if group.hasOneUser { return RoleUser(account: nil) }
    let holders = group.users(of: role).subtracting([0, currentUserID()])
    let dedicated = holders.subtracting(group.users(of: .host))
    let candidates = dedicated.isEmpty ? holders : dedicated
    let weakness: String
    if !mayStartAsOtherUsers {
      weakness = "only root, or a host with CAP_SETUID, CAP_SETGID and CAP_KILL, can change users"
    } else if launcher == nil {
      weakness = "framebus-confine is missing, which starts it as another user"
    } else if candidates.count > 1 {
      weakness = "several users hold the role: \(Self.text(candidates))"
    } else if let id = candidates.first {
      if let account = UserAccount.find(id) { return RoleUser(account: account) }
      weakness = "uid \(id) is not in the user database"
    } else {
      weakness = "the manifest grants the role to no other user"
    }
    guard group.ownRoles.contains(role) else {
      throw .launch(
        "cannot start the \(role) as \(userText(currentUserID())), who does not hold that role:"
          + " \(weakness); start the broadcast as root, or as a user who holds all its roles"
          + (candidates.isEmpty ? "" : ", as \(Self.text(candidates)) should"))
    }
    if dedicated.isEmpty, !mayStartAsOtherUsers || candidates.isEmpty {
      return RoleUser(account: nil)
    }
    return RoleUser(account: nil, weakness: "its host\u{2019}s, because \(weakness)")
  }

  private static func text(_ users: Set<UInt32>) -> String {
    let texts = users.sorted().map(userText)
    return texts.prefix(4).joined(separator: ", ") + (texts.count > 4 ? ", …" : "")
  }
}
