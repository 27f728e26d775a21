import AppGroup
import ArgumentParser
import CommandLineSupport
import NotifyCenter
import Platform

/// `framebus notify …`: the group's named notifications.
struct Notify: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Post, watch and look at the group's named notifications.",
    subcommands: [
      NotifyPost.self, NotifyWatch.self, NotifyCheck.self, NotifyState.self, NotifySetState.self,
      NotifyList.self, NotifyDump.self,
    ])
}

/// The name that most verbs take.
struct NotificationChoice: ParsableArguments {
  @Argument(help: ArgumentHelp("The notification.", valueName: "name"))
  var nameText: String

  func name() throws(UsageError) -> NotificationName {
    do { return try NotificationName(nameText) } catch { throw UsageError("\(error)") }
  }
}

extension GlobalOptions {
  /// The group's notifications, in the role of `--role`: by default as host, if this user may be
  /// that, else in the first of the user's roles.
  /// - Parameter creatingLocal: as `openGroup`: not for verbs that only look.
  func openNotifications(creatingLocal: Bool = false) throws -> NotifyCenter {
    let group = try openGroup(creatingLocal: creatingLocal)
    return try NotifyCenter(group, role: role(in: group))
  }
}

struct NotifyPost: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "post", abstract: "Post a notification: whoever observes it is told.",
    discussion: "A post that nobody observes is a success, and is counted.")

  @OptionGroup var choice: NotificationChoice
  @Option(name: .customLong("repeat"), help: ArgumentHelp("Post it N times.", valueName: "n"))
  var times = 1
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func validate() throws {
    if times < 1 { throw ValidationError("--repeat \(times): use 1 or more") }
  }

  func run() throws {
    let name = try choice.name()
    let poster = try global.openNotifications(creatingLocal: true).poster(of: name)
    var generation: UInt64 = 0
    for _ in 0..<times { generation = try poster.post() }
    if global.json { try global.terminal.printJSON(GenerationReport(name, generation)) }
  }
}

struct NotifyCheck: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Tell whether a notification was posted; exit status 1 if not.",
    discussion: """
      Prints its generation: how often it was posted in all. Given back with --since, the next \
      check is about the posts after it.
      """)

  @OptionGroup var choice: NotificationChoice
  @Option(help: ArgumentHelp("Posted after this generation.", valueName: "generation"))
  var since: UInt64 = 0
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let name = try choice.name()
    let generation = try global.openNotifications().generation(of: name)
    if global.json {
      try global.terminal.printJSON(GenerationReport(name, generation))
    } else {
      try global.terminal.print("\(generation)")
    }
    // A smaller generation is a table that began anew: what was posted since is news.
    if generation == since || generation == 0 { throw AlreadyReported() }
  }
}

struct NotifyState: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "state", abstract: "Print the 64 bits that go with a notification.")

  @OptionGroup var choice: NotificationChoice
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let name = try choice.name()
    try StateReport(name, of: global.openNotifications()).print(to: global)
  }
}

struct NotifySetState: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set-state",
    abstract: "Set the 64 bits that go with a notification; post it to tell of that.")

  @OptionGroup var choice: NotificationChoice
  @Argument(help: ArgumentHelp("0 to 2⁶⁴ − 1, or 0x and hexadecimal digits.", valueName: "value"))
  var valueText: String
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let name = try choice.name()
    let isHexadecimal = valueText.hasPrefix("0x")
    let digits = isHexadecimal ? valueText.dropFirst(2) : valueText[...]
    // A sign would be taken.
    let value = digits.first == "+" ? nil : UInt64(digits, radix: isHexadecimal ? 16 : 10)
    guard let value else {
      throw UsageError(
        "“\(valueText.plain)” is no state: use 0 to \(UInt64.max), or hexadecimal after 0x")
    }
    let center = try global.openNotifications(creatingLocal: true)
    try center.setState(value, of: name)
    if global.json { try StateReport(name, of: center).print(to: global) }
  }
}

/// What `post` and `check` print with `--json`.
private struct GenerationReport: Encodable {
  let name: String
  let generation: UInt64

  init(_ name: NotificationName, _ generation: UInt64) {
    self.name = name.text
    self.generation = generation
  }
}

/// What `state` prints.
private struct StateReport: Encodable {
  let name: String
  let generation: UInt64
  let state: UInt64

  init(_ name: NotificationName, of center: NotifyCenter) throws(NotifyError) {
    self.name = name.text
    generation = try center.generation(of: name)
    state = try center.state(of: name)
  }

  func print(to global: GlobalOptions) throws {
    if global.json { return try global.terminal.printJSON(self) }
    try global.terminal.print("\(state)")
  }
}
