import AppGroup
import CommandLineSupport
import FrameBus
import Platform

/// A demo, from opening the screen to taking the picture. Each scope stops the programs it started,
/// also when an error leaves it.
struct DemoRun {
  let seconds: Int
  let output: String
  let framesPerSecond: Int
  let isVirtual: Bool
  let usesWayland: Bool
  let group: AppGroup
  let groupArguments: [String]
  let terminal: Terminal
  let stop: StopSignal

  private static let pictureStream = "recording"
  /// How long a slow machine may take to read the recording.
  private static let pictureTimeoutSeconds = 60

  /// The path of the picture: beside the recording, with the same name.
  var picture: String {
    let name = output.split(separator: "/").last ?? ""
    guard let dot = name.lastIndex(of: ".") else { return output + ".png" }
    return output.dropLast(name[dot...].count) + ".png"
  }

  func run() throws -> DemoFigures {
    let screen = try openScreen()
    defer { screen.close() }
    terminal.report("screen     \(screen.description)")
    let page = try openPage()
    defer { page?.stop() }
    let broadcast = DemoBroadcast(group: group, terminal: terminal, stop: stop)
    let session = try broadcast.run(
      of: screen, to: output, framesPerSecond: framesPerSecond, for: .seconds(seconds))
    let log = try DemoLog(of: session, in: group)
    terminal.report("log        of host, capture and extension, in seconds:")
    for line in log.story { terminal.report("  " + line) }
    let picture = stop.isRaised ? nil : try takePicture()
    return try DemoFigures(log, output: output, picture: picture)
  }

  /// Starts the page on which a browser can watch; nil if framebus-view was not built.
  private func openPage() throws -> StartedProgram? {
    guard siblingProgram(named: "framebus-view") != nil else { return nil }
    let terminal = terminal
    return try StartedProgram(
      "framebus view", ownProgramPath(), ["view", "screen"] + groupArguments
    ) { line in
      if line.hasPrefix("http://") { terminal.report("live page  \(line)") }
    }
  }

  private func openScreen() throws -> DemoScreen {
    if usesWayland {
      if !isVirtual {
        if let screen = DemoScreen.ownWayland() { return screen }
        terminal.report("no Wayland compositor; starting a virtual one")
      }
      return try DemoScreen.virtualWayland(stop: stop)
    }
    if !isVirtual {
      if let screen = DemoScreen.own() { return screen }
      terminal.report("no X11 screen that a grab can show; starting a virtual one")
    }
    return try DemoScreen.virtual(stop: stop)
  }

  /// Publishes the recording as a stream and saves its first picture.
  private func takePicture() throws -> String {
    let own = try ownProgramPath()
    let playback = try StartedProgram(
      "framebus capture", own,
      ["capture", "file:\(output)", "--stream", Self.pictureStream] + groupArguments)
    defer { playback.stop() }
    try wait(untilPublishedBy: playback)
    let snapshot = try StartedProgram(
      "framebus snapshot", own, ["snapshot", Self.pictureStream, picture] + groupArguments)
    defer { snapshot.stop() }
    let limit = Deadline.after(.seconds(Self.pictureTimeoutSeconds))
    guard let status = snapshot.process.wait(until: limit, stop: stop), status.isSuccess else {
      throw playback.errorIfEnded() ?? snapshot.errorIfEnded()
        ?? DemoError.noPicture(seconds: Self.pictureTimeoutSeconds, lastWords: snapshot.lastWords)
    }
    return picture
  }

  /// Waits for the stream, for longer than a snapshot does.
  private func wait(untilPublishedBy playback: StartedProgram) throws {
    let limit = Deadline.after(.seconds(Self.pictureTimeoutSeconds))
    while try !listStreams(in: group).contains(where: { "\($0.name)" == Self.pictureStream }) {
      if let error = playback.errorIfEnded() { throw error }
      if stop.isRaised || limit.isPast {
        throw DemoError.noPicture(
          seconds: Self.pictureTimeoutSeconds, lastWords: playback.lastWords)
      }
      _ = playback.process.wait(until: .after(.milliseconds(50)), stop: stop)
    }
  }
}
