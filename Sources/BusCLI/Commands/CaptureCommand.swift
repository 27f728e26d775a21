import ArgumentParser
import CommandLineSupport

/// `framebus capture`: parses, so that help and usage need no media library, and hands over to
/// the program that has the source.
struct CaptureCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "capture", abstract: "Publish a screen, a file, sound or a test pattern.")

  @OptionGroup var capture: CaptureOptions
  @OptionGroup var global: GlobalOptions

  func run() throws {
    try RoleProgram(capture.programName()).run(global.arguments + capture.arguments)
  }
}
