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

/// The id that most verbs take, as an argument or by `--group`.
struct GroupChoice: ParsableArguments {
  @Argument(help: "The group (default: that of --group).")
  var id: String?

  func resolved(_ global: GlobalOptions) throws(UsageError) -> GroupID {
    guard let id else { return try global.groupID() }
    if let other = global.groupText, other != id {
      throw UsageError("two groups are named, \(id) and --group \(other); name one")
    }
    do { return try GroupID(id) } catch { throw UsageError("\(error)") }
  }
}

struct GroupShow: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show where a group lies and who may be what.")

  @OptionGroup var choice: GroupChoice
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let id = try choice.resolved(global)
    try GroupReport(AppGroup.describe(id, root: global.root)).print(to: global)
  }
}

struct GroupCreate: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "create", abstract: "Create a group; you own it and may take every role.",
    discussion: """
      A group lies in your home directory, for your processes alone, unless --system puts it in \
      /var/lib/framebus, or --root in a directory of your choice: such groups can be shared \
      with `framebus group grant`.
      """)

  @OptionGroup var choice: GroupChoice
  @Flag(help: "Make a group of several users in /var/lib/framebus; needs root.")
  var system = false
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let id = try choice.resolved(global)
    if system && global.rootText != nil {
      throw UsageError("--system and --root name two places; give one of them")
    }
    let root = system ? nil : global.root
    _ = try AppGroup.create(id, root: root, kind: system ? .system : .user)
    try GroupReport(AppGroup.describe(id, root: root)).print(to: global)
  }
}

struct GroupRemove: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove a group with everything in it.")

  @OptionGroup var choice: GroupChoice
  @Flag(help: "Remove it even while streams are being published.")
  var force = false
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let id = try choice.resolved(global)
    try AppGroup.remove(id, root: global.root, isForced: force)
    try global.tell("removed the group \(id)", asJSON: ["removed": "\(id)"])
  }
}
