import ArgumentParser
import CommandLineSupport

/// `framebus view`: parses here, so that help needs no media library, then runs `framebus-view`.
struct ViewCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "view", abstract: "Serve streams live to a web browser.",
    discussion: """
      Prints the page's address as its first line. The address contains a token: anyone who has \
      it can watch. Streams are read and encoded only while a browser watches. Pictures of \
      whep:URL flow directly to the browser; its bearer token stays in this program.
      """)

  @OptionGroup var view: ViewOptions
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    _ = try view.streams()
    try executeProgram(named: "framebus-view", arguments)
  }
}
