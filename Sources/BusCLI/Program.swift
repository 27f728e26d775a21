import ArgumentParser
import CommandLineSupport

/// The program `framebus`: parses, then hands over to one file of Commands/ a verb.
@main struct Framebus: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "framebus",
    abstract: "Share frames between the processes of a group, without copies.",
    subcommands: [
      DemoCommand.self,
      Group.self,
      CaptureCommand.self,
      UploadCommand.self,
      StreamsCommand.self,
      SnapshotCommand.self,
      DoctorCommand.self,
    ])

  static func main() { runProgram(Framebus.self) }
}
