import ArgumentParser
import CommandLineSupport

/// The program `framebus`: parses the command line and runs the verb, one file of Commands/ each.
///
/// It refuses to contain media code. Verbs that need media run separate programs, so that each
/// process loads only what its role needs.
@main struct Framebus: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "framebus",
    abstract: "Share frames between a group's processes without copies.",
    version: programVersion,
    subcommands: [
      DemoCommand.self,
      Group.self,
      CaptureCommand.self,
      WindowsCommand.self,
      ScreensCommand.self, CamerasCommand.self,
      UploadCommand.self,
      ReplayCommand.self,
      ViewCommand.self,
      BridgeCommand.self,
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
