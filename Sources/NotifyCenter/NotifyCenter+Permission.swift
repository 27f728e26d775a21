import AppGroup
import Platform

/// An operation on a name.
package enum NotifyAction: String, Hashable, Sendable {
  case post, observe
  case setState = "set the state of"
}

extension NotifyCenter {
  /// Refuses operations that the name's prefix, or the manifest's policy for this role, forbids.
  /// For what the kernel enforces between users, see docs/design/notifications.md, Permissions.
  func require(_ action: NotifyAction, _ name: NotificationName) throws(NotifyError) {
    switch name.scope {
    case .process: return
    case .user(let uid):
      if uid == currentUserID() { return }
      throw .notAuthorized(
        name,
        why: "only \(uid.map(userText) ?? "nobody") may use this name; use user.uid."
          + "\(currentUserID()), or a name without a user")
    case .system, .group:
      do {
        try group.require(action.rule, role: role, name: name.text, isSystem: isSystem)
      } catch {
        throw .refused(error)
      }
    }
  }
}

extension NotifyAction {
  /// The operation's name in the manifest's policy.
  fileprivate var rule: NotificationPolicy.Action {
    switch self {
    case .post: .post
    case .observe: .observe
    case .setState: .set
    }
  }
}
