import AppGroup
import Platform

/// What a member does with a name.
package enum NotifyAction: String, Hashable, Sendable {
  case post, observe
  case setState = "set the state of"
}

extension NotifyCenter {
  /// Refuses what the name's prefix does not allow. The kernel refuses it too, where users differ:
  /// each prefix has files of its own (docs/design/notifications.md, Permissions).
  func require(_ action: NotifyAction, _ name: NotificationName) throws(NotifyError) {
    switch name.scope {
    case .process: return
    case .user(let uid):
      if uid == currentUserID() { return }
      throw .notAuthorized(
        name, why: "the name is \(uid.map(userText) ?? "nobody")'s alone; use user.uid."
          + "\(currentUserID()), or a name without a user")
    case .system:
      if action == .observe || isSystem { return }
      throw .notAuthorized(
        name, why: "FrameBus alone may \(action.rawValue) names that begin with “framebus.”; "
          + "use another name")
    case .group: return
    }
  }
}
