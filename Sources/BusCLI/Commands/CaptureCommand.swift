import ArgumentParser
import Bridge
import CommandLineSupport

/// `framebus capture`: parses here, so that help needs no media library, then runs the program
/// that has the source.
struct CaptureCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "capture", abstract: "Publish a screen, a file, sound or a test pattern.")

  @OptionGroup var capture: CaptureOptions
  @OptionGroup var global: GlobalOptions

  mutating func run() throws {
    // A stream of another machine is captured from the address that its machine announces.
    if GroupDirectory.isReference(capture.source) {
      let directory = try GroupDirectory(of: global.openGroup())
      capture.source = try directory.address(of: capture.source)
    }
    let program = try capture.programName()
    try capture.checkSource()
    try executeProgram(named: program, arguments)
  }
}
