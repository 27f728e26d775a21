import ArgumentParser
import CommandLineSupport

/// `framebus snapshot`: the newest frame of a stream as a picture, by the uploader.
struct SnapshotCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "snapshot", abstract: "Write a stream's newest frame to a PNG file.")

  @Argument(help: ArgumentHelp("The stream to read.", valueName: "stream"))
  var streamText: String

  @Argument(help: ArgumentHelp("The picture to write, ending in .png.", valueName: "file.png"))
  var path: String

  @OptionGroup var global: GlobalOptions

  func run() throws {
    _ = try streamName(streamText)
    try RoleProgram("framebus-upload").run(
      global.arguments + ["--stream=\(streamText)", "png:\(path)"])
  }
}
