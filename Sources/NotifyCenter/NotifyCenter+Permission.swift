import AppGroup
import Platform

/// What a member does with a name.
package enum NotifyAction: String, Hashable, Sendable {
  case post, observe
  case setState = "set the state of"
}

extension NotifyCenter {
  /// Refuses what the name's prefix, or the manifest's policy for this role, does not allow. What
  /// the kernel refuses where users differ: docs/design/notifications.md, Permissions.
  func require(_ action: NotifyAction, _ name: NotificationName) throws(NotifyError) {
    switch name.scope {
    case .process: return
    case .user(let uid):
      if uid == currentUserID() { return }
      throw .notAuthorized(
        name,
        why: "the name is \(uid.map(userText) ?? "nobody")'s alone; use user.uid."
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
  /// What the manifest's policy calls it.
  fileprivate var rule: NotificationPolicy.Action {
    switch self {
    case .post: .post
    case .observe: .observe
    case .setState: .set
    }
  }
}
