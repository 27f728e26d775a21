import ArgumentParser
import CommandLineSupport

/// The program `framebus`: parses, then hands over to one file of Commands/ a verb.
///
/// It refuses to contain media code: verbs that need it run programs of their own, so that each
/// process loads only what its role needs.
@main struct Framebus: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "framebus",
    abstract: "Share frames between the processes of a group, without copies.",
    version: programVersion,
    subcommands: [
      DemoCommand.self,
      Group.self,
      CaptureCommand.self,
      UploadCommand.self,
      ViewCommand.self,
      WHIP.self,
      StreamsCommand.self,
      TopCommand.self,
      SnapshotCommand.self,
      RecordCommand.self,
      PlayCommand.self,
      BroadcastCommand.self,
      Extension.self,
      Notify.self,
      Semaphore.self,
      Credential.self,
      Defaults.self,
      Log.self,
      BenchCommand.self,
      DoctorCommand.self,
    ])

  static func main() { runProgram(Framebus.self) }
}
