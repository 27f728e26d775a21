/// Which role may do what with which named notifications, as the group's manifest says.
///
/// Where the manifest says nothing, members may do everything with every name, except that names
/// beginning with `framebus.` are posted and set by the system's own programs alone. Names that
/// begin with `self.` stay in their process, those with `user.uid.N` with user N: both are no
/// matter of policy.
public struct NotificationPolicy: Hashable, Sendable {
  public enum Action: String, CaseIterable, Sendable { case post, observe, set }

  /// What the names of the system's own notifications begin with.
  public static let systemPrefix = "framebus."

  /// What the names begin with that a role may post, observe or set. An action that is missing is
  /// allowed with every name; one with an empty list, with none.
  typealias Rules = [Action: [String]]
  var rules: [Role: Rules] = [:]

  init(rules: [Role: Rules] = [:]) { self.rules = rules }

  /// What the names may begin with that a role may use so; nil where the manifest does not say.
  public func prefixes(_ action: Action, role: Role) -> [String]? { rules[role]?[action] }

  /// Whether a role may do something with a name.
  /// - Parameter isSystem: whether one of the system's own programs asks. What it says of itself,
  ///   such as `framebus.stream.screen`, the roles that may publish streams may post and set.
  public func permits(
    _ action: Action, role: Role, name: String, isSystem: Bool = false
  ) -> Bool {
    if action != .observe, begins(name, with: Self.systemPrefix) {
      return isSystem && Role.publishing.contains(role)
    }
    return prefixes(action, role: role)?.contains { begins(name, with: $0) } ?? true
  }
}

/// Whether a text begins with the very bytes of another: names are bytes here, and never equal for
/// looking alike.
func begins(_ text: String, with prefix: String) -> Bool {
  text.utf8.starts(with: prefix.utf8)
}

extension AppGroup {
  /// What the manifest says now; nil if the group was removed or its manifest cannot be read any
  /// more. One system call, and the manifest is read again when it has changed.
  package var notificationPolicy: NotificationPolicy? { membership.manifest()?.notifications }

  /// Refuses what the policy does not permit, and notes that in the group's `audit`.
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

/// The group's policy does not let a role do something with a name.
public struct NotificationRefusal: Error, Hashable, Sendable, CustomStringConvertible {
  enum Cause: Hashable, Sendable {
    /// The policy, with the prefixes that it does allow, if it names some.
    case policy([String]?)
    case unreadableManifest
  }
  public let action: NotificationPolicy.Action
  public let role: Role
  public let name: String
  public let groupID: GroupID
  let manifestPath: String
  let cause: Cause

  public var description: String {
    "the role \(role) may not \(action) \(printable(name)) in the group \(groupID): \(reason)"
  }

  private var reason: String {
    if cause == .unreadableManifest {
      return "the manifest cannot be read any more; see `framebus group doctor \(groupID)`"
    }
    if action != .observe, begins(name, with: NotificationPolicy.systemPrefix) {
      return "names beginning with \(NotificationPolicy.systemPrefix) are FrameBus's own; choose"
        + " another name"
    }
    guard case .policy(let prefixes?) = cause, !prefixes.isEmpty else {
      return "it may \(action) none at all; take another role with --role, or ask the group's owner"
        + " to change \(action) in [notifications.\(role)] of \(manifestPath)"
    }
    let names = prefixes.map { printable($0) }.joined(separator: " or ")
    return "only names that begin with \(names); use such a name, take another role with --role,"
      + " or ask the group's owner to change \(action) in [notifications.\(role)] of"
      + " \(manifestPath)"
  }
}
