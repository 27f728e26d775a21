import AppGroup
import ArgumentParser
import Platform

/// The options that every verb and every role program takes.
public struct GlobalOptions: ParsableArguments {
  @Option(
    name: .customLong("group"),
    help: ArgumentHelp(
      "The group (default: $FRAMEBUS_GROUP, then \(GroupID.local)).", valueName: "id"))
  public var groupText: String?

  @Option(
    name: .customLong("root"),
    help: ArgumentHelp(
      "Keep groups in DIR/state and DIR/run (default: $FRAMEBUS_HOME, then the usual places).",
      valueName: "dir"))
  public var rootText: String?

  @Option(
    name: .customLong("role"),
    help: ArgumentHelp("The role to take; each verb has its own default.", valueName: "role"))
  public var roleText: String?

  @Flag(help: "Write JSON.")
  public var json = false

  @Flag(name: .shortAndLong, help: "Say nothing but data and errors.")
  public var quiet = false

  @Flag(name: .shortAndLong, help: "Say more.")
  public var verbose = false

  public init() {}

  public func validate() throws {
    if rootText == "" { throw ValidationError("--root: name a directory, or leave it out") }
  }

  /// For a verb whose output has a form of its own.
  package func refuseJSON(_ why: String) throws {
    if json { throw ValidationError("--json is not for this: \(why); leave it out") }
  }

  /// Tells what was done: people a line, a program an object such as `{"removed": NAME}`.
  package func tell(_ line: String, asJSON record: some Encodable) throws {
    if json { try terminal.printJSON(record) } else { terminal.say(line) }
  }

  public var terminal: Terminal { Terminal(isQuiet: quiet, isVerbose: verbose) }

  /// The directory of `--root` or `$FRAMEBUS_HOME`; nil for the usual places.
  public var root: String? { rootText ?? environmentValue(GroupVariables.home) }

  /// The group of `--group`, `$FRAMEBUS_GROUP`, or the local one.
  public func groupID() throws(UsageError) -> GroupID {
    guard let text = groupText ?? environmentValue(GroupVariables.group) else { return .local }
    do { return try GroupID(text) } catch { throw UsageError("\(error)") }
  }

  /// The role of `--role`, else the verb's own.
  public func role(default role: Role) throws(UsageError) -> Role { try chosenRole() ?? role }

  /// The role of `--role`, else the verb's own if this user may be that, else the first that the
  /// user may be.
  package func role(
    in group: AppGroup, preferring role: Role = .host
  ) throws(UsageError) -> Role {
    let own = group.ownRoles
    return try self.role(default: own.contains(role) ? role : own.first ?? role)
  }

  private func chosenRole() throws(UsageError) -> Role? {
    try roleText.map(parsedRole)
  }

  /// Opens the chosen group as a member, who may take the role of `--role` if that is given.
  /// - Parameter creatingLocal: makes the local group if it does not exist yet, so that a first
  ///   `framebus capture` or `upload` just works. A group of any other name must exist, and so must
  ///   the local one for a verb that only looks.
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

  /// Two first commands may start at once: the one that comes second opens what the first made.
  private func createOrOpen(_ id: GroupID) throws(GroupError) -> AppGroup {
    do {
      return try AppGroup.create(id, root: root)
    } catch {
      guard error.kind == .exists else { throw error }
      return try AppGroup.open(id, root: root)
    }
  }
}

/// A role of the command line.
package func parsedRole(_ text: String) throws(UsageError) -> Role {
  guard let role = Role(rawValue: text) else {
    throw UsageError("“\(text.plain)” is no role; roles are words like host, capture or extension")
  }
  return role
}
