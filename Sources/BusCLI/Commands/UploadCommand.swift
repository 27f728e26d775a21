import ArgumentParser
import CommandLineSupport

/// `framebus upload`: parses here, so that help needs no media library, then runs the uploader.
struct UploadCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "upload", abstract: "Encode a stream's frames, then send or record them.")

  @OptionGroup var upload: UploadOptions
  @OptionGroup var global: GlobalOptions

  func run() throws {
    if let list = UploadList(upload.destinations) { return try list.run(global) }
    _ = try upload.streams()
    try executeProgram(named: "framebus-upload", arguments)
  }
}
