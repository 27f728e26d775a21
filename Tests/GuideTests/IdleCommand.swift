import ArgumentParser
import CommandLineSupport
import FrameBus

/// `framebus idle`: lists the streams that have no subscriber.
struct IdleCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "idle", abstract: "List the group's streams that have no subscriber.")

  @OptionGroup var global: GlobalOptions

  func run() throws {
    let streams = try idleStreams()
    if global.json { return try global.terminal.printJSON(streams) }
    if streams.isEmpty { global.terminal.report("every stream has a subscriber") }
    for name in streams { try global.terminal.print(name) }
  }

  func idleStreams() throws -> [String] {
    try listStreams(in: try global.openGroup()).filter(\.subscribers.isEmpty).map(\.name.text)
  }
}
