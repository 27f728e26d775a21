import TOMLKit

extension Manifest {
  /// Reads the text of a manifest, which anybody may have written.
  init(parsing bytes: [UInt8], for id: GroupID) throws(ManifestError) {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw ManifestError(line: 1, reason: "the file is not UTF-8 text")
    }
    let lines = ManifestLines(text)
    if let line = lines.lineOfControlCharacter() {
      throw ManifestError(line: line, reason: "the line holds a control character")
    }
    let table: TOMLTable
    do {
      table = try TOMLTable(string: text)
    } catch let error as TOMLParseError {
      throw ManifestError(line: error.source.begin.line, reason: printable(error.description))
    } catch {
      throw ManifestError(line: 1, reason: "\(error)")
    }
    // Values point into the table that they came from.
    self = try withExtendedLifetime(table) { () throws(ManifestError) in
      try Manifest(table, lines, for: id)
    }
  }

  private init(
    _ table: TOMLTable, _ lines: ManifestLines, for id: GroupID
  ) throws(ManifestError) {
    try Self.checkVersion(table, lines)
    for key in table.keys where !["version", "group", "roles"].contains(key) {
      throw ManifestError(
        line: lines.line(of: key),
        reason: "unknown key \(printable(key)); there are version, group and roles")
    }
    guard table["group"]?.string == id.description else {
      let reason =
        table["group"] == nil
        ? "the key group is missing" : "the key group is not \"\(id)\", the directory's name"
      throw ManifestError(line: lines.line(of: "group"), reason: reason)
    }
    guard let roleTable = table["roles"]?.table else {
      throw ManifestError(line: lines.line(of: "roles"), reason: "the table [roles] is missing")
    }
    var roles: [Role: Holders] = [:]
    for name in roleTable.keys {
      let line = lines.line(ofTable: "roles.\(name)")
      guard let role = Role(rawValue: name) else {
        throw ManifestError(
          line: line, reason: "\(printable(name)) is no role: use a-z, 0-9 and -, at most 32")
      }
      guard let holders = roleTable[name]?.table else {
        throw ManifestError(line: line, reason: "roles.\(name) is not a table")
      }
      roles[role] = try Self.holders(holders, of: role, lines)
    }
    self.init(id: id, roles: roles)
  }

  private static func checkVersion(
    _ table: TOMLTable, _ lines: ManifestLines
  ) throws(ManifestError) {
    guard let version = table["version"]?.int, version >= 1 else {
      throw ManifestError(
        line: lines.line(of: "version"), reason: "the key version is missing or no number from 1")
    }
    if version > Self.version {
      throw ManifestError(
        line: lines.line(of: "version"),
        reason: "it has version \(version), and this FrameBus reads versions up to \(Self.version)",
        isNewerVersion: true)
    }
  }

  private static func holders(
    _ table: TOMLTable, of role: Role, _ lines: ManifestLines
  ) throws(ManifestError) -> Holders {
    var holders = Holders()
    for key in table.keys {
      let line = lines.line(of: key, inTable: "roles.\(role)")
      guard key == "uids" || key == "gids" else {
        throw ManifestError(
          line: line, reason: "unknown key \(printable(key)) in roles.\(role); it has uids and gids"
        )
      }
      guard let array = table[key]?.array else {
        throw ManifestError(line: line, reason: "roles.\(role).\(key) is not a list of numbers")
      }
      for index in 0..<array.count {
        // The highest number stands for "no id" in the kernel's calls.
        guard let number = array[index].int, (0..<Int(UInt32.max)).contains(number) else {
          throw ManifestError(
            line: line,
            reason: "roles.\(role).\(key) holds something that is no id of a user or group")
        }
        if key == "uids" {
          holders.uids.insert(UInt32(number))
        } else {
          holders.gids.insert(UInt32(number))
        }
      }
    }
    return holders
  }
}

/// Finds the line that a value came from, because the parser only tells for syntax errors.
private struct ManifestLines {
  private let lines: [Substring]

  init(_ text: String) {
    lines = text.split(separator: "\n", omittingEmptySubsequences: false)
  }

  func lineOfControlCharacter() -> Int? {
    lines.firstIndex { line in
      line.unicodeScalars.contains { $0.value < 0x20 && $0 != "\t" && $0 != "\r" || $0 == "\u{7f}" }
    }.map { $0 + 1 }
  }

  /// The line of a top-level key or table; the first if it is missing.
  func line(of key: String) -> Int { line(of: key, from: 0) ?? line(ofTable: key) }

  func line(ofTable name: String) -> Int {
    (lines.firstIndex { line in
      let compact = line.filter { !" \t\r\"'".contains($0) }
      return compact.hasPrefix("[\(name)]") || compact.hasPrefix("[\(name).")
        || compact.hasPrefix("\(name)=")
    } ?? 0) + 1
  }

  func line(of key: String, inTable table: String) -> Int {
    let header = line(ofTable: table)
    return line(of: key, from: header) ?? header
  }

  private func line(of key: String, from start: Int) -> Int? {
    for index in lines.indices.dropFirst(start) {
      let compact = lines[index].filter { !" \t\r\"'".contains($0) }
      if compact.hasPrefix("[") { return nil }
      if compact.hasPrefix("\(key)=") { return index + 1 }
    }
    return nil
  }
}
