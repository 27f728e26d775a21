import ArgumentParser
import Broadcast
import CommandLineSupport
import Platform
import Sound

/// `framebus broadcast pick`.
struct BroadcastPick: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pick", abstract: "Pick an extension on the terminal.",
    discussion: """
      Prints what `framebus broadcast start` takes: the extension and the microphone's switch. The \
      extension of the setting preferredExtension is selected first. With --json, lists the \
      extensions for a picker of your own, without asking.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    // Before any thread starts, because all threads must block the signals.
    let signals = try SignalWatcher()
    let group = try global.openGroup()
    let registry = ExtensionRegistry(group)
    let entries = try registry.list()
    let preferred = try registry.preferredID()
    // As `broadcast start` sets it.
    let microphone = SoundSwitch().mic
    if global.json {
      return try global.terminal.printJSON(
        PickReport(
          preferred: preferred, microphone: microphone,
          extensions: entries.map { ExtensionReport($0) }))
    }
    if entries.isEmpty { throw BroadcastError.noExtension }
    guard ExtensionPicker.isPossible else {
      throw UsageError(
        "there is no terminal to pick on: use --json, or name the extension to"
          + " `framebus broadcast start`")
    }
    var picker = ExtensionPicker(entries, preferred: preferred, hasMicrophone: microphone)
    let controller = try BroadcastController(in: group)
    guard let choice = try picker.pick(for: controller, stop: signals.stop) else {
      try controller.cancelPick()
      if signals.isInterrupted { throw Interrupted() }
      global.terminal.report("cancelled")
      throw AlreadyReported()
    }
    try global.terminal.print(
      "\(choice.id) --mic=\(SwitchPosition(choice.hasMicrophone).rawValue)")
  }
}

/// What a picker shows. The names are a contract.
private struct PickReport: Encodable {
  let preferred: String?
  let microphone: Bool
  let extensions: [ExtensionReport]
}
