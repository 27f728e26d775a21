/// The notifications that each role may post, observe and set, by the group's manifest.
///
/// Without a rule in the manifest, members may do everything with every name, except that only
/// FrameBus's own programs may post and set names beginning with `framebus.`. The policy applies
/// neither to names that begin with `self.`, which stay in their process, nor to names that begin
/// with `user.uid.N`, which belong to user N.
public struct NotificationPolicy: Hashable, Sendable {
  /// What a role may do with a name.
  public enum Action: String, CaseIterable, Sendable {
    /// Post the name.
    case post
    /// Observe the name.
    case observe
    /// Change the number that the name carries.
    case set
  }

  /// The name prefix of FrameBus's own notifications.
  public static let systemPrefix = "framebus."

  /// For each action, the permitted name prefixes. A missing action permits every name; an empty
  /// list permits no name.
  typealias Rules = [Action: [String]]
  var rules: [Role: Rules] = [:]

  init(rules: [Role: Rules] = [:]) { self.rules = rules }

  /// The name prefixes for which a role may perform an action; nil if the manifest has no rule.
  public func prefixes(_ action: Action, role: Role) -> [String]? { rules[role]?[action] }

  /// Whether a role may perform an action with a name.
  /// - Parameter isSystem: whether the caller is one of FrameBus's own programs. If so, roles that
  ///   may publish streams may post and set its names, such as `framebus.stream.screen`.
  public func permits(
    _ action: Action, role: Role, name: String, isSystem: Bool = false
  ) -> Bool {
    if action != .observe, begins(name, with: Self.systemPrefix) {
      return isSystem && Role.publishing.contains(role)
    }
    return prefixes(action, role: role)?.contains { begins(name, with: $0) } ?? true
  }
}

/// Whether a text begins with the same bytes as another. Names are compared by bytes, not by
/// canonical equivalence of Unicode.
func begins(_ text: String, with prefix: String) -> Bool {
  text.utf8.starts(with: prefix.utf8)
}

extension AppGroup {
  /// The policy of the present manifest; nil if the group was removed or its manifest is no longer
  /// readable. Makes one system call. A changed manifest is read again.
  package var notificationPolicy: NotificationPolicy? { membership.manifest()?.notifications }

  /// Throws if the policy does not permit the action. Records the refusal in the group's `audit`.
  package func require(
    _ action: NotificationPolicy.Action, role: Role, name: String, isSystem: Bool = false
  ) throws(NotificationRefusal) {
    let policy = notificationPolicy
    if policy?.permits(action, role: role, name: name, isSystem: isSystem) == true { return }
    audit("role \(role) refused to \(action) \(printable(name, limit: 512))")
    throw NotificationRefusal(
      action: action, role: role, name: name, groupID: id,
      manifestPath: containerPath + "/" + Manifest.fileName,
      cause: policy.map { .policy($0.prefixes(action, role: role)) } ?? .unreadableManifest)
  }
}

/// A refusal of an action by the group's policy.
public struct NotificationRefusal: Error, Hashable, Sendable, CustomStringConvertible {
  enum Cause: Hashable, Sendable {
    /// The policy forbids the action. The value has the prefixes that it permits, if it names any.
    case policy([String]?)
    case unreadableManifest
  }
  /// What was tried.
  public let action: NotificationPolicy.Action
  /// The role of the process that tried it.
  public let role: Role
  /// The name of the notification.
  public let name: String
  /// The group.
  public let groupID: GroupID
  let manifestPath: String
  let cause: Cause

  public var description: String {
    "the role \(role) may not \(action) \(printable(name)) in the group \(groupID): \(reason)"
  }

  private var reason: String {
    if cause == .unreadableManifest {
      return "the manifest is no longer readable; see `framebus group doctor \(groupID)`"
    }
    if action != .observe, begins(name, with: NotificationPolicy.systemPrefix) {
      return "names beginning with \(NotificationPolicy.systemPrefix) are FrameBus's own; choose"
        + " another name"
    }
    guard case .policy(let prefixes?) = cause, !prefixes.isEmpty else {
      return "it may not \(action) any name; take another role with --role, or ask the group's"
        + " owner to change \(action) in [notifications.\(role)] of \(manifestPath)"
    }
    let names = prefixes.map { printable($0) }.joined(separator: " or ")
    return "only names that begin with \(names); use such a name, take another role with --role,"
      + " or ask the group's owner to change \(action) in [notifications.\(role)] of"
      + " \(manifestPath)"
  }
}
