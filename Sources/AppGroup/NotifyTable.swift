/// A table of named notifications. A name belongs to the table with the longest prefix that it
/// begins with. Each prefix in the manifest's policy has its own table, because the kernel checks
/// permissions per file.
package struct NotifyTable: Hashable, Sendable {
  package let prefix: String

  /// The directory's name, of limited length for any prefix (FNV-1a of its bytes).
  package var directoryName: String {
    if prefix.isEmpty { return "names" }
    if prefix == NotificationPolicy.systemPrefix { return "framebus" }
    let hash = prefix.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { hash, byte in
      (hash ^ UInt64(byte)) &* 0x100_0000_01b3
    }
    return "prefix-" + String(hash, radix: 16)
  }
}

extension NotificationPolicy {
  /// All tables, longest prefix first.
  var tables: [NotifyTable] {
    let mentioned = rules.values.flatMap { $0.values.flatMap(\.self) }
    return Set(mentioned + ["", Self.systemPrefix]).map(NotifyTable.init).sorted {
      ($0.prefix.utf8.count, $1.prefix) > ($1.prefix.utf8.count, $0.prefix)
    }
  }

  /// Whether a role may perform an action on a whole table. No longer prefix of the policy matches
  /// a name in the table, so the answer for the prefix holds for each name.
  func permits(_ action: Action, role: Role, table: NotifyTable) -> Bool {
    permits(action, role: role, name: table.prefix, isSystem: true)
  }
}

extension AppGroup {
  /// The tables of the present manifest.
  package var notifyTables: [NotifyTable] { (notificationPolicy ?? NotificationPolicy()).tables }

  /// The table to which a name belongs.
  package func notifyTable(of name: String) -> NotifyTable {
    notifyTables.first { begins(name, with: $0.prefix) } ?? NotifyTable(prefix: "")
  }
}
