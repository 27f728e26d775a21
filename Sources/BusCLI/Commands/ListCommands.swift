import ArgumentParser
import Capture
import CommandLineSupport

/// `framebus windows`: lists what `capture window:` can capture; `framebus-capture` does it.
struct WindowsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "windows", abstract: "List the windows that can be captured.",
    discussion: """
      The active window is listed first. Titles and programs are what the windows themselves say. \
      `framebus capture window:WINDOW` takes the same IDs, titles and programs.
      """)

  @OptionGroup var choice: WindowOptions
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    _ = try choice.selector()
    try executeProgram(named: SourceKind.plainProgram, ["windows"] + arguments)
  }
}

/// `framebus screens`: lists what `capture screen` can capture; `framebus-capture` does it.
struct ScreensCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "screens", abstract: "List the screens that can be captured.",
    discussion: """
      One line for each monitor, with the source and the --size of `framebus capture` that capture \
      it alone.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    try executeProgram(named: SourceKind.plainProgram, ["screens"] + arguments)
  }
}

/// `framebus cameras`: lists what `capture camera` can capture; `framebus-capture` does it.
struct CamerasCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cameras", abstract: "List the cameras, with their modes and controls.",
    discussion: """
      `framebus capture camera:NAME` takes the paths and names, --format, --size and --fps the \
      modes, and --control the controls.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    try executeProgram(named: SourceKind.plainProgram, ["cameras"] + arguments)
  }
}
