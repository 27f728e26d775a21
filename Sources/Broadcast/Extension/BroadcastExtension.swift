import AppGroup
import Confinement
import CredentialStore
import Platform
import SharedDefaults
import SharedLog

/// The process of an extension. Its `main` only needs to call `BroadcastExtension.run(Uploader())`.
public enum BroadcastExtension {
  /// Whether a host started this process for a broadcast. Programs with other uses can check it.
  public static var isStartedByHost: Bool {
    environmentValue(ExtensionEnvironment.identifier) != nil
  }

  /// The address of the server that the setting `whipURL` named when somebody agreed to it. Nothing
  /// is sent to another server, whatever the setting becomes.
  package static var agreedServer: String? { environmentValue(ExtensionEnvironment.server) }

  /// The connection to PipeWire that the host has opened for a destination `camera:`.
  package static var cameraConnection: Int32? {
    environmentValue(ExtensionEnvironment.camera).flatMap { Int32($0) }.flatMap {
      $0 >= 3 ? $0 : nil
    }
  }

  /// Runs a handler until its broadcast ends, then exits the process: with status 0 after a clean
  /// finish, 1 after a failure, which is also printed on standard error.
  ///
  /// Call it first in `main`, before any other thread starts, because it turns the signals that
  /// stop a process into a clean finish.
  public static func run(_ handler: BroadcastSampleHandler) -> Never {
    do {
      try ConfinedProcess.keepOwnMeasures()
      let signals = try SignalWatcher()
      let ending = try ending(of: handler, stop: signals.stop)
      if case .failed(let failure) = ending {
        printLine("error: \(failure)")
        exitProcess(1)
      }
      exitProcess(0)
    } catch {
      printLine("error: \(error)")
      exitProcess(1)
    }
  }

  /// As ``run(_:)``, without exiting the process.
  static func ending(
    of handler: BroadcastSampleHandler, stop: StopSignal
  ) throws -> BroadcastEnding {
    guard let session = environmentValue(ExtensionEnvironment.session).flatMap(SessionID.init),
      let extensionID = environmentValue(ExtensionEnvironment.identifier),
      let streams = environmentValue(ExtensionEnvironment.streams).flatMap(SampleSources.init)
    else { throw BroadcastError.noSession }
    let groupID = try environmentValue(GroupVariables.group).map { try GroupID($0) } ?? .local
    let group = try AppGroup.open(groupID, root: environmentValue(GroupVariables.home))
    try group.require(.extension)
    var credentials: CredentialStore?
    if let handed = try HandedOver.takeInherited() {
      credentials = try CredentialStore.open(in: group, handed: handed)
    }
    let passed = try credentials.flatMap { try SessionSetup.read(of: session, in: $0) }
    var logOptions = LogOptions()
    logOptions.session = session.text
    let log = try SharedLog.open(group, role: .extension, options: logOptions)
    defer { try? log.close() }
    let setup = SetupInfo(
      group: group, session: session, extensionID: extensionID, attempt: 1,
      samples: streams.inOrder.map(\.type), settings: try SharedDefaults(in: group),
      credentials: credentials, log: log, passed: passed ?? SessionSetup(),
      leadingStream: streams.inOrder.first?.stream)
    let run = try ExtensionRun(handler, setup, streams)
    defer { credentials?.endSession() }
    return try stop.observed(by: { run.stop() }, during: { Result { try run.run() } }).get()
  }

  private static func printLine(_ line: String) {
    // A failed write is ignored: standard error may be closed.
    try? writeFully(Array((line.plain + "\n").utf8), to: 2)
  }
}
