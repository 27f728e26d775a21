import ArgumentParser
import CommandLineSupport

/// `framebus whip …`: inspects WHIP endpoints; `framebus upload whip:URL` sends to them.
struct WHIP: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "whip", abstract: "Inspect WHIP endpoints, which receive live streams.",
    subcommands: [WHIPProbe.self])
}

/// `framebus whip probe`: parses here, so that help needs no media library, then runs the uploader.
struct WHIPProbe: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "probe", abstract: "Show a WHIP endpoint's answer and features.",
    discussion: """
      Sends an offer without media, reads the answer, and removes the session.
      """)

  @OptionGroup var probe: WHIPProbeOptions
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    try executeProgram(named: "framebus-upload", ["probe"] + arguments)
  }
}
