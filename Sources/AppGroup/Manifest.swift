import Platform

/// The contents of a group's `manifest.toml`: its ID, its roles, their holders, what each role may
/// do with notifications, and what crosses to other machines. docs/design/app-group.md defines the
/// format.
struct Manifest: Hashable, Sendable {
  static let fileName = "manifest.toml"
  /// The version that this code writes, and the newest that it reads.
  static let version = 1
  /// Larger files are refused unread. A thousand members need a tenth of this.
  static let maximumBytes = 65536

  /// The users and user groups that may hold one role.
  struct Holders: Hashable, Sendable {
    var uids: Set<UInt32> = []
    var gids: Set<UInt32> = []
  }

  let id: GroupID
  var roles: [Role: Holders]
  var notifications: NotificationPolicy
  var bridge: BridgePolicy

  init(
    id: GroupID, roles: [Role: Holders], notifications: NotificationPolicy = NotificationPolicy(),
    bridge: BridgePolicy = BridgePolicy()
  ) {
    self.id = id
    self.roles = roles
    self.notifications = notifications
    self.bridge = bridge
  }

  /// The manifest of a new group, whose owner holds every role.
  init(id: GroupID, ownerID: UInt32) {
    let holders = Holders(uids: [ownerID])
    self.init(
      id: id, roles: Dictionary(uniqueKeysWithValues: Role.publishing.map { ($0, holders) }))
  }

  /// The roles of a user who is in these user groups, sorted.
  func roles(uid: UInt32, gids: Set<UInt32>) -> [Role] {
    roles.filter { $0.value.uids.contains(uid) || !$0.value.gids.isDisjoint(with: gids) }
      .keys.sorted()
  }

  var namesGroups: Bool { roles.values.contains { !$0.gids.isEmpty } }

  /// The text of the file.
  var text: String {
    var text = """
      # A FrameBus group: who may hold which role. `framebus group grant` rewrites this file.
      version = \(Self.version)
      group = "\(id)"

      """
    for (role, holders) in roles.sorted(by: { $0.key < $1.key }) {
      text += """

        [roles.\(role)]
        uids = \(holders.uids.sorted())
        gids = \(holders.gids.sorted())

        """
    }
    return text + notifications.text + bridge.text
  }
}

/// An error in a manifest: the line and the reason.
struct ManifestError: Error, Hashable, Sendable {
  let line: Int
  let reason: String
  var isNewerVersion = false
}
