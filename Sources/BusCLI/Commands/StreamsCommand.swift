import AppGroup
import ArgumentParser
import Bridge
import CommandLineSupport
import FrameBus
import Platform

/// `framebus streams`: lists the group's streams, as their publishers report them.
struct StreamsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "streams", abstract: "List the group's streams and their subscribers.")

  @Flag(help: "List the streams of all machines, and their addresses.")
  var allMachines = false
  @OptionGroup var global: GlobalOptions

  func run() throws {
    KernelFeatures.raiseDescriptorLimit()
    let group = try global.openGroup()
    if allMachines { return try listAllMachines(of: group) }
    let inspector = StreamInspector(group)
    let streams = try inspector.poll()
    if global.json {
      try global.terminal.printJSON(streams.map(StreamRecord.init))
    } else if streams.isEmpty {
      global.terminal.report("no stream; start one, as with `framebus capture screen`")
    } else {
      for stream in streams { try show(stream) }
    }
    if let shortfall = TopView.shortfallLine(inspector) { throw StreamsLeftOut(line: shortfall) }
  }

  private func listAllMachines(of group: AppGroup) throws {
    guard try BridgeState(in: group).connection != nil else { throw DirectoryError.noBridge }
    let entries = try GroupDirectory(of: group).entries
    if global.json { return try global.terminal.printJSON(entries.map(MachineRecord.init)) }
    for entry in entries {
      let report = entry.report
      let clock = report.clock.map { "  clock \($0.text)" } ?? ""
      try global.terminal.print(
        report.machine.text + (entry.isPresent ? "" : "  not connected") + clock)
      for stream in report.streams {
        let parts = [stream.name, stream.state, stream.format] + stream.addresses
        try global.terminal.print("  " + parts.filter { !$0.isEmpty }.joined(separator: "  "))
      }
    }
    if entries.isEmpty { global.terminal.report("no machine is known; see `framebus bridge`") }
  }

  private func show(_ report: StreamReport) throws {
    let terminal = global.terminal
    guard case .answered(let stream) = report else {
      return try terminal.print(TopView.silentLine(report))
    }
    try terminal.print(
      "\(stream.name)  \(stream.stateText)  \(stream.formatText)  "
        + "\(stream.cursor) frames  \(stream.slots) slots of \(stream.slotBytes / 1024) KiB  "
        + "pid \(stream.publisherPID)"
        + (stream.isCaptured ? "  captured" : "")
        + (stream.application.map { "  in front \($0)" } ?? "")
        + (stream.owed > 0 ? "  \(stream.owed) subscribers owed memory" : ""))
    for subscriber in stream.subscribers {
      try terminal.print(
        "  subscriber \(subscriber.id)  pid \(subscriber.pid)  received \(subscriber.received)  "
          + "dropped \(subscriber.dropped)  lag \(subscriber.lag)  holds \(subscriber.held)"
          + (subscriber.isLossless ? "  lossless" : ""))
    }
  }
}

/// The list is incomplete.
private struct StreamsLeftOut: Error, CustomStringConvertible {
  let line: String
  var description: String { line }
}
