import Platform

/// The request that framebus-confine reads: lines of a keyword and its value, in a sealed memory
/// file. docs/design/confinement.md has the format.
struct ConfinementText {
  static let maximumBytes = 65536
  // The limits of framebus-confine.
  static let maximumGrants = 512
  static let maximumVariables = 128
  static let maximumGroups = 256
  let text: String

  /// - Parameters:
  ///   - variables: what another user's process without confinement gets beside the usual ones.
  ///   - descriptorCount: how many descriptors beside the standard streams stay open.
  init(
    _ confinement: Confinement?, as user: UserAccount? = nil, variables: [String] = [],
    memoryGroup: String? = nil, descriptorCount: Int, diesWithHost: Bool
  ) throws(LaunchError) {
    var lines = ["framebus-confine 1", "descriptors \(descriptorCount)"]
    if diesWithHost { lines.append("parent \(currentProcessID())") }
    if let user {
      // The primary group first.
      let others = user.groupIDs.subtracting([user.groupID]).sorted()
      let numbers = [user.id, user.groupID] + others.prefix(Self.maximumGroups - 1)
      lines.append("user " + numbers.map(String.init).joined(separator: " "))
    }
    if let confinement {
      lines.append("sockets \(confinement.sockets.rawValue)")
      if confinement.mayMapUsers { lines.append("users mapped") }
      if let bytes = confinement.memoryBytes { lines.append("memory \(bytes)") }
      if let memoryGroup { lines.append("group \(memoryGroup)") }
      lines += confinement.variables.map { "variable \($0)" }
      // Parents come before the paths in them.
      lines += confinement.grants.sorted { $0.path.utf8.count < $1.path.utf8.count }
        .map { "\($0.access.rawValue) \($0.path)" }
    } else if user != nil {
      // Others of the host may be secrets.
      lines += (Confinement.variablesOfOtherUsers + variables).map { "variable \($0)" }
    }
    if let line = lines.first(where: { $0.utf8.contains { $0 < 0x20 || $0 == 0x7f } }) {
      throw .unsayable(line)
    }
    text = lines.map { $0 + "\n" }.joined() + "end\n"
    if text.utf8.count > Self.maximumBytes { throw .tooLong(byteCount: text.utf8.count) }
    guard let confinement else { return }
    if let grant = confinement.grants.first(where: { !$0.path.hasPrefix("/") }) {
      throw .notAbsolute(grant.path)
    }
    if confinement.grants.count > Self.maximumGrants {
      throw .tooMany("paths", count: confinement.grants.count, limit: Self.maximumGrants)
    }
    if confinement.variables.count > Self.maximumVariables {
      throw .tooMany(
        "variables", count: confinement.variables.count, limit: Self.maximumVariables)
    }
  }

  /// The request in a sealed memory file.
  func sealed() throws(SystemError) -> Descriptor {
    let bytes = Array(text.utf8)
    let file = try MemoryFile(named: "confinement", byteCount: bytes.count)
    // SAFETY: whole bytes, without padding.
    try unsafe file.initialize(from: bytes.span.bytes)
    try file.add([.size, .writes, .seals])
    return file.intoDescriptor()
  }
}
