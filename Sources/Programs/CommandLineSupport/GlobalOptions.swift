import AppGroup
import ArgumentParser
import Capture
import Platform

/// The options of every verb and role program.
public struct GlobalOptions: ParsableArguments {
  @Option(
    name: .customLong("group"),
    help: ArgumentHelp(
      "Group ID (default: $FRAMEBUS_GROUP, then \(GroupID.local)).", valueName: "id"))
  public var groupText: String?

  @Option(
    name: .customLong("root"),
    help: ArgumentHelp(
      "Keep groups in DIR/state and DIR/run (default: $FRAMEBUS_HOME, then the system's).",
      valueName: "dir"))
  public var rootText: String?

  @Option(
    name: .customLong("role"),
    help: ArgumentHelp("Role to take; each verb has its own default.", valueName: "role"))
  public var roleText: String?

  @Flag(help: "Print JSON.")
  public var json = false

  @Flag(name: .shortAndLong, help: "Print only data and errors.")
  public var quiet = false

  @Flag(name: .shortAndLong, help: "Print more detail.")
  public var verbose = false

  public init() {}

  public func validate() throws {
    if rootText == "" { throw ValidationError("--root: name a directory, or omit the option") }
    SuggestedCommand.useLocation(root: rootText, group: groupText)
  }

  /// For verbs with an output format of their own.
  package func refuseJSON(_ why: String) throws {
    if json { throw ValidationError("--json does not apply: \(why); omit it") }
  }

  /// Reports a result: a line for people, or with `--json` an object such as `{"removed": NAME}`.
  package func report(_ line: String, asJSON record: some Encodable) throws {
    if json { try terminal.printJSON(record) } else { terminal.report(line) }
  }

  public var terminal: Terminal { Terminal(isQuiet: quiet, isVerbose: verbose) }

  /// The directory of `--root` or `$FRAMEBUS_HOME`; nil for the system's directories.
  public var root: String? { rootText ?? environmentValue(GroupVariables.home) }

  /// The group of `--group` or `$FRAMEBUS_GROUP`, or else the local one.
  public func groupID() throws(UsageError) -> GroupID {
    guard let text = groupText ?? environmentValue(GroupVariables.group) else { return .local }
    do { return try GroupID(text) } catch { throw UsageError("\(error)") }
  }

  /// The role of `--role`, or else the verb's default.
  public func role(default role: Role) throws(UsageError) -> Role { try chosenRole() ?? role }

  /// The role of `--role`, or else the preferred one if this user may take it, or else the user's
  /// first role.
  package func role(
    in group: AppGroup, preferring role: Role = .host
  ) throws(UsageError) -> Role {
    let own = group.ownRoles
    return try self.role(default: own.contains(role) ? role : own.first ?? role)
  }

  /// Keeps the notification `framebus.captured` while the program runs; nil if its user may not
  /// post it. End it last.
  package func capturedAnnouncer(
    in group: AppGroup, preferring role: Role
  ) -> CapturedAnnouncer? {
    try? CapturedAnnouncer(in: group, as: self.role(in: group, preferring: role))
  }

  private func chosenRole() throws(UsageError) -> Role? {
    try roleText.map(parsedRole)
  }

  /// Opens the chosen group as a member, and checks that this user may take the role of `--role`.
  /// - Parameter creatingLocal: whether to create the local group if it does not exist, so that a
  ///   first `framebus capture` or `upload` works. False for verbs that only read. A group of any
  ///   other name must exist.
  public func openGroup(creatingLocal: Bool = false) throws -> AppGroup {
    let id = try groupID()
    let role = try chosenRole()
    let group = try open(id, creatingLocal: creatingLocal)
    if let role { try group.require(role) }
    return group
  }

  private func open(_ id: GroupID, creatingLocal: Bool) throws(GroupError) -> AppGroup {
    do {
      return try AppGroup.open(id, root: root)
    } catch {
      guard error.kind == .unknown && creatingLocal && id == .local else { throw error }
      return try createOrOpen(id)
    }
  }

  /// Two first commands may start at once: the second opens the group that the first created.
  private func createOrOpen(_ id: GroupID) throws(GroupError) -> AppGroup {
    do {
      return try AppGroup.create(id, root: root)
    } catch {
      guard error.kind == .exists else { throw error }
      return try AppGroup.open(id, root: root)
    }
  }
}

/// Parses a role argument.
package func parsedRole(_ text: String) throws(UsageError) -> Role {
  guard let role = Role(rawValue: text) else {
    throw UsageError(
      "“\(text.plain)” is not a role; roles are words like host, capture or extension")
  }
  return role
}
