import Platform

/// What a group's `manifest.toml` says: its id, its roles, who may hold them, and what
/// they may do with notifications.
/// The format is drawn in docs/design/app-group.md.
struct Manifest: Hashable, Sendable {
  static let fileName = "manifest.toml"
  /// The version this code writes, and the newest it reads.
  static let version = 1
  /// Larger files are refused unread; a thousand members need a tenth of it.
  static let maximumBytes = 65536

  /// Who may hold one role.
  struct Holders: Hashable, Sendable {
    var uids: Set<UInt32> = []
    var gids: Set<UInt32> = []
  }

  let id: GroupID
  var roles: [Role: Holders]
  var notifications: NotificationPolicy

  init(
    id: GroupID, roles: [Role: Holders], notifications: NotificationPolicy = NotificationPolicy()
  ) {
    self.id = id
    self.roles = roles
    self.notifications = notifications
  }

  /// A new group: its owner may be everything.
  init(id: GroupID, ownerID: UInt32) {
    let holders = Holders(uids: [ownerID])
    self.init(
      id: id, roles: Dictionary(uniqueKeysWithValues: Role.publishing.map { ($0, holders) }))
  }

  /// The roles of a user with these groups, sorted.
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
    return text + notifications.text
  }
}

/// A manifest that cannot be used: the line, and what is wrong with it.
struct ManifestError: Error, Hashable, Sendable {
  let line: Int
  let reason: String
  var isNewerVersion = false
}
