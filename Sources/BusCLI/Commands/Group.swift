import AppGroup
import ArgumentParser
import CommandLineSupport

/// `framebus group …`: containers, roles, members.
struct Group: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Create, show and share groups.",
    subcommands: [
      GroupCreate.self, GroupShow.self, GroupList.self, GroupRemove.self, GroupGrant.self,
      GroupDoctor.self,
    ])
}

/// The group ID that most verbs take, as an argument or as `--group`.
struct GroupChoice: ParsableArguments {
  @Argument(help: "Group ID (default: the value of --group).")
  var id: String?

  func resolved(_ global: GlobalOptions) throws(UsageError) -> GroupID {
    guard let id else { return try global.groupID() }
    if let other = global.groupText, other != id {
      throw UsageError("the argument \(id) and --group \(other) differ; give one of them")
    }
    do { return try GroupID(id) } catch { throw UsageError("\(error)") }
  }
}

struct GroupShow: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show a group's directories and role holders.")

  @OptionGroup var choice: GroupChoice
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let id = try choice.resolved(global)
    try GroupReport(AppGroup.describe(id, root: global.root)).print(to: global)
  }
}

struct GroupCreate: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "create", abstract: "Create a group that you own, with every role granted to you.",
    discussion: """
      By default the group is in your home directory and only your processes can use it. With \
      --system it is in /var/lib/framebus, and with --root in a directory of your choice; such \
      groups can be shared with `framebus group grant`.
      """)

  @OptionGroup var choice: GroupChoice
  @Flag(help: "Create it in /var/lib/framebus, for several users; needs root.")
  var system = false
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let id = try choice.resolved(global)
    if system && global.rootText != nil {
      throw UsageError("--system and --root exclude each other; give one of them")
    }
    let root = system ? nil : global.root
    _ = try AppGroup.create(id, root: root, kind: system ? .system : .user)
    try GroupReport(AppGroup.describe(id, root: root)).print(to: global)
  }
}

struct GroupRemove: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove a group and everything in it.")

  @OptionGroup var choice: GroupChoice
  @Flag(help: "Remove it even while streams are being published.")
  var force = false
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let id = try choice.resolved(global)
    try AppGroup.remove(id, root: global.root, isForced: force)
    try global.report("removed the group \(id)", asJSON: ["removed": "\(id)"])
  }
}
