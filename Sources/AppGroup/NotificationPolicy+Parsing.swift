extension NotificationPolicy {
  /// The longest name prefix in bytes, equal to the longest name.
  private static let maximumPrefixBytes = 512

  /// Parses the table `[notifications]` of a manifest: one table for each role, with lists of name
  /// prefixes.
  init(parsing table: [String: TOMLValue], roles: Set<Role>) throws(ManifestError) {
    var rules: [Role: Rules] = [:]
    for (name, value) in table {
      guard let role = Role(rawValue: name), roles.contains(role) else {
        throw ManifestError(
          line: value.line,
          reason: "notifications.\(printable(name)) does not name a role of this manifest")
      }
      guard let actions = value.table else {
        throw ManifestError(line: value.line, reason: "notifications.\(role) is not a table")
      }
      rules[role] = try Self.rules(actions, of: role)
    }
    self.init(rules: rules)
  }

  private static func rules(
    _ table: [String: TOMLValue], of role: Role
  ) throws(ManifestError) -> Rules {
    var rules: Rules = [:]
    for (key, value) in table {
      guard let action = Action(rawValue: key) else {
        throw ManifestError(
          line: value.line,
          reason: "unknown key \(printable(key)) in notifications.\(role); use post, observe or"
            + " set")
      }
      rules[action] = try prefixes(value, of: action, "notifications.\(role).\(action)")
    }
    return rules
  }

  private static func prefixes(
    _ value: TOMLValue, of action: Action, _ key: String
  ) throws(ManifestError) -> [String] {
    guard let array = value.array else {
      throw ManifestError(
        line: value.line, reason: "\(key) is not a list of name prefixes")
    }
    var prefixes: [String] = []
    for element in array {
      guard let prefix = element.string, (1...maximumPrefixBytes).contains(prefix.utf8.count) else {
        throw ManifestError(
          line: element.line,
          reason: "\(key) has an element that is not a name prefix of 1 to"
            + " \(maximumPrefixBytes) bytes")
      }
      if begins(prefix, with: "self.") {
        throw ManifestError(
          line: element.line,
          reason: "\(key) has \(printable(prefix)), but such names never leave their process")
      }
      if action != .observe, begins(prefix, with: systemPrefix) {
        throw ManifestError(
          line: element.line,
          reason: "\(key) has \(printable(prefix)), but such names are FrameBus's own")
      }
      prefixes.append(prefix)
    }
    return prefixes
  }

  /// This policy as a part of a manifest's text.
  var text: String {
    var text = ""
    for (role, rules) in rules.sorted(by: { $0.key < $1.key }) {
      text += "\n[notifications.\(role)]\n"
      for action in Action.allCases {
        guard let prefixes = rules[action] else { continue }
        text += "\(action) = [\(prefixes.map(quoted).joined(separator: ", "))]\n"
      }
    }
    return text
  }
}

/// Quotes a string for TOML.
func quoted(_ text: String) -> String {
  var result = "\""
  for scalar in text.unicodeScalars {
    switch scalar {
    case "\"", "\\": result += "\\\(scalar)"
    case _ where scalar.value < 0x20 || scalar.value == 0x7f:
      let digits = String(scalar.value, radix: 16)
      result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    default: result.unicodeScalars.append(scalar)
    }
  }
  return result + "\""
}
