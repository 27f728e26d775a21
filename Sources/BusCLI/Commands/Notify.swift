import AppGroup
import ArgumentParser
import Capture
import CommandLineSupport
import NotifyCenter
import Platform

/// `framebus notify …`: the group's named notifications.
struct Notify: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Post, watch and inspect the group's notifications.",
    subcommands: [
      NotifyPost.self, NotifyWatch.self, NotifyCheck.self, NotifyState.self, NotifySetState.self,
      NotifyList.self, NotifyDump.self,
    ])
}

/// The notification name argument.
struct NotificationChoice: ParsableArguments {
  @Argument(help: ArgumentHelp("Notification name.", valueName: "name"))
  var nameText: String

  func name() throws(UsageError) -> NotificationName {
    do { return try NotificationName(nameText) } catch { throw UsageError("\(error)") }
  }
}

extension GlobalOptions {
  /// The group's notifications, opened in the role of `--role`. The default role is host if this
  /// user may take it, else the user's first role.
  /// - Parameter creatingLocal: as in `openGroup`; false for verbs that only read.
  func openNotifications(creatingLocal: Bool = false) throws -> NotifyCenter {
    let group = try openGroup(creatingLocal: creatingLocal)
    // All processes that keep it may have been killed.
    CapturedAnnouncer.update(in: group)
    return try NotifyCenter(group, role: role(in: group))
  }
}

struct NotifyPost: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "post", abstract: "Post a notification to its observers.",
    discussion: "A post without observers succeeds and is counted.")

  @OptionGroup var choice: NotificationChoice
  @Option(name: .customLong("repeat"), help: ArgumentHelp("Post N times.", valueName: "n"))
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
    abstract: "Check whether a notification was posted; exit 1 if not.",
    discussion: """
      Prints the notification's generation: its total number of posts. Pass that number to \
      --since to check for later posts only.
      """)

  @OptionGroup var choice: NotificationChoice
  @Option(help: ArgumentHelp("Count only posts after this generation.", valueName: "generation"))
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
    // A smaller generation means that the table began anew: those posts are new as well.
    if generation == since || generation == 0 { throw AlreadyReported() }
  }
}

struct NotifyState: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "state", abstract: "Print a notification's 64-bit state.")

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
    abstract: "Set a notification's 64-bit state without posting.")

  @OptionGroup var choice: NotificationChoice
  @Argument(help: ArgumentHelp("0 to 2⁶⁴ − 1, or 0x and hexadecimal digits.", valueName: "value"))
  var valueText: String
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let name = try choice.name()
    let isHexadecimal = valueText.hasPrefix("0x")
    let digits = isHexadecimal ? valueText.dropFirst(2) : valueText[...]
    // `UInt64(_:radix:)` would accept a sign.
    let value = digits.first == "+" ? nil : UInt64(digits, radix: isHexadecimal ? 16 : 10)
    guard let value else {
      throw UsageError(
        "“\(valueText.plain)” is not a state: use 0 to \(UInt64.max), or hexadecimal after 0x")
    }
    let center = try global.openNotifications(creatingLocal: true)
    try center.setState(value, of: name)
    if global.json { try StateReport(name, of: center).print(to: global) }
  }
}

/// The JSON output of `post` and `check`.
private struct GenerationReport: Encodable {
  let name: String
  let generation: UInt64

  init(_ name: NotificationName, _ generation: UInt64) {
    self.name = name.text
    self.generation = generation
  }
}

/// The output of `state`.
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
