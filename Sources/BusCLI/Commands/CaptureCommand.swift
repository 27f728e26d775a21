import ArgumentParser
import CommandLineSupport

/// `framebus capture`: parses here, so that help needs no media library, then runs the program
/// that has the source.
struct CaptureCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "capture", abstract: "Publish a screen, a file, sound or a test pattern.")

  @OptionGroup var capture: CaptureOptions
  @OptionGroup var global: GlobalOptions

  func run() throws {
    let program = try capture.programName()
    try capture.checkSource()
    try executeProgram(named: program, arguments)
  }
}
