import AppGroup
import Broadcast
import CredentialStore
import Foundation
import Platform
import WorkerSupport

/// The processes of a broadcast that a test can kill: `BroadcastWorker extension trace=FILE …`, as
/// in a manifest, `BroadcastWorker host ROOT GROUP extension=ID source=SOURCE`, and
/// `BroadcastWorker publish ROOT GROUP STREAM`.
@main
struct Program {
  static func main() {
    let arguments = CommandLine.arguments
    switch arguments.dropFirst().first {
    case "extension":
      BroadcastExtension.run(TracingHandler(Settings(arguments.dropFirst(2))))
    case "host" where arguments.count >= 4: runWorker { try host(arguments) }
    case "publish" where arguments.count >= 5: runWorker { try publish(arguments) }
    default: fatalError("usage: BroadcastWorker extension|host|publish …")
    }
  }

  /// Stores the contents of descriptor 3 as the credential `SERVICE/ACCOUNT`.
  private static func seal(_ text: String, in group: AppGroup) throws {
    let secret = try SecretBytes(capacity: 4096) { span throws(CredentialError) in
      do { return try readFully(into: &span, from: 3) } catch { throw .system("\(error)") }
    }
    try CredentialStore.create(in: group).set(CredentialName(text), secret)
    say("has sealed")
  }

  /// Starts a broadcast and prints its events until it has ended or a signal arrives.
  private static func host(_ arguments: [String]) throws {
    let signals = try SignalWatcher()
    let settings = Settings(arguments.dropFirst(4))
    let group = try AppGroup.open(GroupID(arguments[3]), root: arguments[2])
    let controller = try BroadcastController(in: group) { say("event \($0)") }
    var request = BroadcastRequest(
      extensionID: settings.text("extension", ""), source: settings.text("source", "test:noise"))
    if settings["seal"] != nil { try seal(settings.text("seal", ""), in: group) }
    if settings["restarts"] == "always" {
      request.restarts.maximumInARow = .max
      request.restarts.longestDelay = request.restarts.firstDelay
    }
    let started = try controller.start(request)
    say("\(started)")
    if let ending = try controller.waitForEnding(of: started.session, stop: signals.stop) {
      return say("ending \(ending)")
    }
    try controller.finish()
    say("ending \(try controller.waitForEnding(of: started.session).map { "\($0)" } ?? "none")")
  }
}
