import ArgumentParser
import CommandLineSupport

/// `framebus whip …`: looks at WHIP endpoints; `framebus upload whip:URL` sends to them.
struct WHIP: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "whip", abstract: "Look at WHIP endpoints.", subcommands: [WHIPProbe.self])
}

/// `framebus whip probe`: parses, so that help and usage need no other program, and hands over.
struct WHIPProbe: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "probe", abstract: "Show what a WHIP endpoint answers and supports.",
    discussion: """
      Makes an offer behind which there is no media, looks at the answer, and removes the session \
      again.
      """)

  @OptionGroup var probe: WHIPProbeOptions
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    try RoleProgram("framebus-upload").run(["probe"] + probe.arguments + global.arguments)
  }
}
