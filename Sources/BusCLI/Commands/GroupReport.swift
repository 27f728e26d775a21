import AppGroup
import CommandLineSupport
import Platform

/// What `framebus group show` and `create` print.
struct GroupReport: Encodable {
  private struct Holders: Encodable {
    let uids: [UInt32]
    let gids: [UInt32]
  }

  private let id: String
  private let location: String
  private let owner: UserReport
  private let container: String
  private let run: String
  private let streams: String
  private let roles: [String: Holders]
  /// By role and action: the permitted name prefixes, where the manifest limits them.
  private let notifications: [String: [String: [String]]]
  private let you: UserReport
  private let ownRoles: [String]

  init(_ group: GroupDescription) {
    id = group.id.description
    location = group.location.rawValue
    owner = UserReport(group.ownerID)
    container = group.containerPath
    run = group.runPath
    streams = group.streamsPath
    roles = Dictionary(
      uniqueKeysWithValues: group.roles.map {
        ($0.role.description, Holders(uids: $0.uids, gids: $0.gids))
      })
    notifications = Self.notifications(group)
    you = UserReport(currentUserID())
    ownRoles = group.ownRoles.map(\.description)
  }

  private static func notifications(
    _ group: GroupDescription
  ) -> [String: [String: [String]]] {
    var all: [String: [String: [String]]] = [:]
    for role in group.roles.map(\.role) {
      for action in NotificationPolicy.Action.allCases {
        guard let prefixes = group.notifications.prefixes(action, role: role) else { continue }
        all[role.description, default: [:]][action.rawValue] = prefixes
      }
    }
    return all
  }

  func print(to global: GlobalOptions) throws {
    if global.json { return try global.terminal.printJSON(self) }
    var rows = [
      ("group", id), ("location", location), ("container", container), ("run", run),
      ("owner", userName(owner.uid)),
    ]
    for (role, holders) in roles.sorted(by: { $0.key < $1.key }) {
      let names = holders.uids.map(userName) + holders.gids.map { "gid \($0)" }
      rows.append(("role \(role)", names.isEmpty ? "nobody" : names.joined(separator: ", ")))
    }
    for (role, rules) in notifications.sorted(by: { $0.key < $1.key }) {
      let texts = rules.sorted { $0.key < $1.key }.map { action, prefixes in
        action + " "
          + (prefixes.isEmpty ? "nothing" : prefixes.map { "\($0)…" }.joined(separator: ", "))
      }
      rows.append(("notifications \(role)", texts.joined(separator: "; ")))
    }
    let own = ownRoles.isEmpty ? "not a member" : ownRoles.joined(separator: ", ")
    rows.append(("you", "\(userName(you.uid)): \(own)"))
    try global.terminal.printRows(rows)
  }
}

extension Terminal {
  /// Writes labels and their texts in two columns.
  func printRows(_ rows: [(label: String, text: String)]) throws(SystemError) {
    let width = rows.map(\.label.count).max() ?? 0
    for (label, text) in rows { try print("\(label.padded(to: width))  \(text)") }
  }
}

/// A user ID, with the name if the user database has one.
struct UserReport: Encodable {
  let uid: UInt32
  let name: String?

  init(_ uid: UInt32) {
    self.uid = uid
    name = UserAccount.find(uid)?.name
  }
}

/// A user as shown to users: `uid 1000 (alice)`.
func userName(_ uid: UInt32) -> String { userText(uid) }

extension String {
  /// The text padded with spaces to a column's width.
  func padded(to width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - count))
  }
}
