/// A table of named notifications: the names that begin with a prefix and with no longer one that
/// has a table. Each prefix that the manifest's policy mentions has one, because the kernel decides
/// by the file.
package struct NotifyTable: Hashable, Sendable {
  package let prefix: String

  /// Its directory's name: short, whatever the prefix (FNV-1a of its bytes).
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
  /// The tables there are, those of the longest prefixes first.
  var tables: [NotifyTable] {
    let mentioned = rules.values.flatMap { $0.values.flatMap(\.self) }
    return Set(mentioned + ["", Self.systemPrefix]).map(NotifyTable.init).sorted {
      ($0.prefix.utf8.count, $1.prefix) > ($1.prefix.utf8.count, $0.prefix)
    }
  }

  /// What a role may do with a whole table: since no prefix of the policy is longer and fits, what
  /// holds for the prefix holds for each name.
  func permits(_ action: Action, role: Role, table: NotifyTable) -> Bool {
    permits(action, role: role, name: table.prefix, isSystem: true)
  }
}

extension AppGroup {
  /// The tables of the manifest as it is now.
  package var notifyTables: [NotifyTable] { (notificationPolicy ?? NotificationPolicy()).tables }

  /// The table that a name belongs to.
  package func notifyTable(of name: String) -> NotifyTable {
    notifyTables.first { begins(name, with: $0.prefix) } ?? NotifyTable(prefix: "")
  }
}
