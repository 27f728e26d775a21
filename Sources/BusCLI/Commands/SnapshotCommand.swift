import ArgumentParser
import CommandLineSupport

/// `framebus snapshot`: writes a stream's newest frame as a picture; `framebus-upload` does it.
struct SnapshotCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "snapshot", abstract: "Write a stream's newest frame to a PNG file.",
    discussion: """
      Waits up to five seconds for the stream, as it may be starting. Fails if it is paused, or if \
      a screen publishes no new picture within two seconds: the newest one would be old.
      """)

  @Argument(help: ArgumentHelp("Stream to read.", valueName: "stream"))
  var streamText: String

  @Argument(help: ArgumentHelp("File to write, ending in .png.", valueName: "file.png"))
  var path: String

  @Flag(help: "Write the newest picture even if it is old.")
  var allowOld = false

  @OptionGroup var global: GlobalOptions

  func run() throws {
    _ = try streamName(streamText)
    var upload = try UploadOptions.parse(["png:\(path)"])
    upload.streamTexts = [streamText]
    upload.allowOld = allowOld
    try executeProgram(
      named: "framebus-upload", global.optionArguments + upload.arguments)
  }
}
