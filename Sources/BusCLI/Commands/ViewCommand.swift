import ArgumentParser
import CommandLineSupport

/// `framebus view`: parses, so that help and usage need no media library, and hands over.
struct ViewCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "view", abstract: "Show streams on a page that a browser plays live.",
    discussion: """
      Prints the page's address as its first line. Whoever knows it may watch: it holds a token. \
      Nothing is read from the streams, or encoded, while nobody does.
      """)

  @OptionGroup var view: ViewOptions
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    _ = try view.streams()
    try RoleProgram("framebus-view").run(view.arguments + global.arguments)
  }
}
