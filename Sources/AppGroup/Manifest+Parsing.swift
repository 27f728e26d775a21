extension Manifest {
  /// Parses a manifest. The text is untrusted.
  init(parsing bytes: [UInt8], for id: GroupID) throws(ManifestError) {
    let table: [String: TOMLValue]
    do {
      table = try TOMLDocument(parsing: bytes).root
    } catch {
      throw ManifestError(line: error.line, reason: error.reason)
    }
    try Self.checkVersion(table)
    for (key, value) in table.sorted(by: { $0.value.line < $1.value.line })
    where !["version", "group", "roles", "notifications", "bridge"].contains(key) {
      throw ManifestError(
        line: value.line,
        reason: "unknown key \(printable(key)); use version, group, roles, notifications or bridge")
    }
    guard let name = table["group"] else {
      throw ManifestError(line: 1, reason: "the key group is missing")
    }
    guard name.string == id.description else {
      throw ManifestError(
        line: name.line, reason: "the key group differs from the directory's name, “\(id)”")
    }
    guard let roleTable = table["roles"]?.table else {
      throw ManifestError(line: table["roles"]?.line ?? 1, reason: "there is no table [roles]")
    }
    var roles: [Role: Holders] = [:]
    for (name, value) in roleTable {
      guard let role = Role(rawValue: name) else {
        throw ManifestError(
          line: value.line,
          reason: "\(printable(name)) is not a valid role: use at most 32 of a-z, 0-9 and -")
      }
      guard let holders = value.table else {
        throw ManifestError(line: value.line, reason: "roles.\(name) is not a table")
      }
      roles[role] = try Self.holders(holders, of: role)
    }
    let notifications = table["notifications"]
    guard let policyTable = notifications.map({ $0.table }) ?? [:] else {
      throw ManifestError(line: notifications?.line ?? 1, reason: "notifications is not a table")
    }
    let bridge = table["bridge"]
    guard let bridgeTable = bridge.map({ $0.table }) ?? [:] else {
      throw ManifestError(line: bridge?.line ?? 1, reason: "bridge is not a table")
    }
    self.init(
      id: id, roles: roles,
      notifications: try NotificationPolicy(parsing: policyTable, roles: Set(roles.keys)),
      bridge: try BridgePolicy(parsing: bridgeTable))
  }

  private static func checkVersion(_ table: [String: TOMLValue]) throws(ManifestError) {
    guard let version = table["version"] else {
      throw ManifestError(line: 1, reason: "the key version is missing")
    }
    guard let number = version.integer, number >= 1 else {
      throw ManifestError(line: version.line, reason: "the version is not a positive number")
    }
    if number > Self.version {
      throw ManifestError(
        line: version.line,
        reason: "it has version \(number), but this FrameBus reads versions up to \(Self.version)",
        isNewerVersion: true)
    }
  }

  private static func holders(
    _ table: [String: TOMLValue], of role: Role
  ) throws(ManifestError) -> Holders {
    for (key, value) in table where key != "uids" && key != "gids" {
      throw ManifestError(
        line: value.line,
        reason: "unknown key \(printable(key)) in roles.\(role); use uids or gids")
    }
    return Holders(
      uids: try ids(table["uids"], "roles.\(role).uids"),
      gids: try ids(table["gids"], "roles.\(role).gids"))
  }

  private static func ids(
    _ value: TOMLValue?, _ key: String
  ) throws(ManifestError) -> Set<UInt32> {
    guard let value else { return [] }
    guard let array = value.array else {
      throw ManifestError(line: value.line, reason: "\(key) is not a list of numbers")
    }
    var ids: Set<UInt32> = []
    for element in array {
      // The highest number means "no ID" in system calls.
      guard let number = element.integer, (0..<Int(UInt32.max)).contains(number) else {
        throw ManifestError(
          line: element.line, reason: "\(key) has an element that is not a user or group ID")
      }
      ids.insert(UInt32(number))
    }
    return ids
  }
}
