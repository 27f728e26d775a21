import AppGroup
import Confinement
import CredentialStore
import Platform
import SharedDefaults
import SharedLog

/// The process of an extension: `BroadcastExtension.run(Uploader())` is all that its `main` does.
public enum BroadcastExtension {
  /// Whether a host started this process for a broadcast: for programs that can do something else
  /// besides.
  public static var isStartedByHost: Bool {
    environmentValue(ExtensionEnvironment.identifier) != nil
  }

  /// Runs a handler for the broadcast that a host started this process for, to its end, and ends
  /// the process: status 0 after a clean finish, 1 after a failure, which standard error tells too.
  ///
  /// Call it first in `main`, before any other thread: signals to stop become a clean finish.
  public static func run(_ handler: BroadcastSampleHandler) -> Never {
    do {
      try ConfinedProcess.keepOwnMeasures()
      let signals = try SignalWatcher()
      let ending = try ending(of: handler, stop: signals.stop)
      if case .failed(let failure) = ending {
        tell("error: \(failure)")
        exitProcess(1)
      }
      exitProcess(0)
    } catch {
      tell("error: \(error)")
      exitProcess(1)
    }
  }

  /// As ``run(_:)``, for a process that goes on.
  static func ending(
    of handler: BroadcastSampleHandler, stop: StopSignal
  ) throws -> BroadcastEnding {
    let given = try GivenByHost()
    let group = try AppGroup.open(given.group, root: environmentValue(GroupVariables.home))
    try group.require(.extension)
    var credentials: CredentialStore?
    if let handed = try HandedOver.takeInherited() {
      credentials = try CredentialStore.open(in: group, handed: handed)
    }
    var logOptions = LogOptions()
    logOptions.session = given.session.text
    let log = try SharedLog.open(group, role: .extension, options: logOptions)
    defer { try? log.close() }
    let setup = SetupInfo(
      group: group, session: given.session, extensionID: given.extensionID, attempt: 1,
      samples: given.streams.inOrder.map(\.type), settings: try SharedDefaults(in: group),
      credentials: credentials, log: log)
    let run = try ExtensionRun(handler, setup, given.streams)
    defer { credentials?.endSession() }
    return try stop.observed(by: { run.stop() }, during: { Result { try run.run() } }).get()
  }

  private static func tell(_ line: String) {
    // Without standard error there is nobody to tell.
    try? writeFully(Array((line.plain + "\n").utf8), to: 2)
  }
}

/// What the environment says of the broadcast that a host started this process for.
private struct GivenByHost {
  let group: GroupID
  let session: SessionID
  let extensionID: String
  let streams: SampleSources

  init() throws {
    guard let session = environmentValue(ExtensionEnvironment.session).flatMap(SessionID.init),
      let extensionID = environmentValue(ExtensionEnvironment.identifier),
      let streams = environmentValue(ExtensionEnvironment.streams).flatMap(SampleSources.init)
    else { throw BroadcastError.noSession }
    self.session = session
    self.extensionID = extensionID
    self.streams = streams
    group = try environmentValue(GroupVariables.group).map { try GroupID($0) } ?? .local
  }
}
