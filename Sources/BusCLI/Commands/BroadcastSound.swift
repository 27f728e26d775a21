import ArgumentParser
import Broadcast
import CommandLineSupport
import Sound

/// The value of a switch option.
enum SwitchPosition: String, ExpressibleByArgument, CaseIterable {
  case on, off

  init(_ isOn: Bool) { self = isOn ? .on : .off }
  var isOn: Bool { self == .on }
}

/// The kinds of sound in a broadcast.
struct SoundSwitchOptions: ParsableArguments {
  @Option(help: "Sound of applications.") var app: SwitchPosition?
  @Option(help: "Sound of the microphone.") var mic: SwitchPosition?

  var isEmpty: Bool { app == nil && mic == nil }

  /// The kinds that are named.
  var values: [SampleBufferType: Bool] {
    var values: [SampleBufferType: Bool] = [:]
    values[.audioApp] = app?.isOn
    values[.audioMic] = mic?.isOn
    return values
  }
}

/// `framebus broadcast sound`.
struct BroadcastSound: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sound", abstract: "Show or switch the sound of the broadcast.",
    discussion: """
      Sound that is switched off is not captured: it fades out within 10 ms, and its device is \
      closed. A broadcast starts with the sound of applications on and the microphone off, unless \
      `broadcast start` sets them otherwise.
      """)

  @OptionGroup var positions: SoundSwitchOptions
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let controller = try BroadcastController(in: global.openGroup())
    if !positions.isEmpty {
      try controller.setSound(app: positions.app?.isOn, mic: positions.mic?.isOn)
    }
    let sound = try controller.sound
    if global.json { return try global.terminal.printJSON(Report(sound)) }
    if positions.isEmpty {
      try global.terminal.printRows([
        ("app", SwitchPosition(sound.app).rawValue), ("mic", SwitchPosition(sound.mic).rawValue),
      ])
    }
  }

  private struct Report: Encodable {
    let app: Bool
    let mic: Bool

    init(_ sound: SoundSwitch) {
      app = sound.app
      mic = sound.mic
    }
  }
}
