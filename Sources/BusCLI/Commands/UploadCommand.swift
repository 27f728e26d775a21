import ArgumentParser
import CommandLineSupport

/// `framebus upload`: parses, so that help and usage need no media library, and hands over.
struct UploadCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "upload", abstract: "Encode a stream's frames and send or record them.")

  @OptionGroup var upload: UploadOptions
  @OptionGroup var global: GlobalOptions

  func run() throws {
    _ = try upload.streams()
    try RoleProgram("framebus-upload").run(global.arguments + upload.arguments)
  }
}
