import AppGroup
import CommandLineSupport
import FrameBus
import Platform

/// A demo from its screen to its picture. Every program it starts it also stops, whichever way it
/// ends: what is still running when an error leaves a scope is stopped by that scope.
struct DemoRun {
  let seconds: Int
  let output: String
  let framesPerSecond: Int
  let isVirtual: Bool
  let group: AppGroup
  let groupArguments: [String]
  let terminal: Terminal
  let stop: StopSignal

  private static let screenStream = "screen"
  private static let pictureStream = "recording"
  /// How long a slow machine may take until the first frame is recorded.
  private static let patience = 60

  /// The picture lies beside the recording, under the same name.
  var picture: String {
    let name = output.split(separator: "/").last ?? ""
    guard let dot = name.lastIndex(of: ".") else { return output + ".png" }
    return output.dropLast(name[dot...].count) + ".png"
  }

  func run() throws -> DemoFigures {
    let screen = try openScreen()
    defer { screen.close() }
    terminal.say("screen     \(screen.description)")

    let own = try ownProgramPath()
    let capture = try StartedProgram(
      "framebus capture", own,
      ["capture", "screen:\(screen.display)", "--stream", Self.screenStream]
        + ["--fps", "\(framesPerSecond)", "--json"] + groupArguments,
      environment: ["DISPLAY": screen.display])
    defer { capture.stop() }
    terminal.say("capture    process \(capture.process.processID), stream \(Self.screenStream)")

    let upload = try StartedProgram(
      "framebus upload", own,
      ["upload", "file:\(output)", "--stream", Self.screenStream]
        + ["--duration", "\(seconds)", "--json", "--verbose"] + groupArguments)
    defer { upload.stop() }
    terminal.say("recording  process \(upload.process.processID), file \(output)")

    try wait(for: upload, fedBy: capture)
    upload.stop()
    let recorded = try lastObject(
      UploadSummary.self, in: upload.collectedOutput(), of: upload.name)
    capture.stop()
    let captured = try lastObject(
      CaptureSummary.self, in: capture.collectedOutput(), of: capture.name)
    let picture = stop.isRaised ? nil : try takePicture(with: own)
    return DemoFigures(upload: recorded, capture: captured, output: output, picture: picture)
  }

  private func openScreen() throws -> DemoScreen {
    if !isVirtual {
      if let screen = DemoScreen.own() { return screen }
      terminal.say("There is no X11 screen here that a grab could show; starting a virtual one.")
    }
    return try DemoScreen.virtual(stop: stop)
  }

  /// Shows the recording's own progress until it has ended by itself or the user stops it.
  private func wait(for upload: StartedProgram, fedBy capture: StartedProgram) throws {
    let limit = Deadline.after(.seconds(seconds + Self.patience))
    let watched = [
      upload.process.descriptorNumber, capture.process.descriptorNumber, stop.descriptorNumber,
    ]
    var shown = ""
    defer { if !shown.isEmpty { terminal.endProgress() } }
    while true {
      let ready = try waitUntilReadable(watched, until: .after(.milliseconds(250)))
      if ready[2] { return }
      if ready[0] {
        guard upload.process.status?.isSuccess == true else {
          throw upload.errorIfEnded() ?? NoFigures(program: upload.name, text: "")
        }
        return
      }
      if ready[1], let error = capture.errorIfEnded() { throw error }
      if limit.isPast {
        throw DemoError.nothingRecorded(
          seconds: seconds + Self.patience, lastWords: upload.lastWords)
      }
      let line = upload.lastWords
      if line != shown, !line.isEmpty {
        terminal.progress(line)
        shown = line
      }
    }
  }

  /// Reads the recording back through the bus and keeps its first picture.
  private func takePicture(with own: String) throws -> String {
    let playback = try StartedProgram(
      "framebus capture", own,
      ["capture", "file:\(output)", "--stream", Self.pictureStream] + groupArguments)
    defer { playback.stop() }
    try wait(untilPublishedBy: playback)
    let snapshot = try StartedProgram(
      "framebus snapshot", own, ["snapshot", Self.pictureStream, picture] + groupArguments)
    defer { snapshot.stop() }
    let limit = Deadline.after(.seconds(Self.patience))
    guard let status = snapshot.process.wait(until: limit, stop: stop), status.isSuccess else {
      throw playback.errorIfEnded() ?? snapshot.errorIfEnded()
        ?? DemoError.nothingRecorded(seconds: Self.patience, lastWords: snapshot.lastWords)
    }
    return picture
  }

  /// A snapshot does not wait for a stream that nobody publishes yet.
  private func wait(untilPublishedBy playback: StartedProgram) throws {
    let limit = Deadline.after(.seconds(Self.patience))
    while try !listStreams(in: group).contains(where: { "\($0.name)" == Self.pictureStream }) {
      if let error = playback.errorIfEnded() { throw error }
      if stop.isRaised || limit.isPast {
        throw DemoError.nothingRecorded(seconds: Self.patience, lastWords: playback.lastWords)
      }
      _ = playback.process.wait(until: .after(.milliseconds(50)), stop: stop)
    }
  }
}
