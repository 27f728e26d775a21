import AppGroup
import Broadcast
import CommandLineSupport
import Platform

/// The application that an extension's manifest names, offered to the user after a failure:
/// ReplayKit's “Go to Application”.
///
/// It runs only if the user says so, by an answer on the terminal or by `--go-to-application`. It
/// runs as the host's user, not confined.
struct ApplicationOffer {
  private let command: [String]
  private let group: AppGroup
  private let global: GlobalOptions

  /// - Returns: nil if the manifest names no application.
  init?(of extensionID: String, in group: AppGroup, _ global: GlobalOptions) {
    guard let manifest = try? ExtensionRegistry(group).manifest(of: extensionID),
      !manifest.application.isEmpty
    else { return nil }
    command = manifest.application
    self.group = group
    self.global = global
  }

  /// Runs the application if the user agrees, and waits for its end or `stop`; else says how to run
  /// it.
  func make(isAccepted: Bool, stop: StopSignal) throws {
    let name = command.joined(separator: " ")
    if !isAccepted {
      guard isTerminal(0), global.terminal.isInteractive, !global.json, !global.terminal.isQuiet
      else { return global.terminal.report("go to its application with `\(name)`") }
      global.terminal.report("Go to its application, `\(name)`? Enter y to run it.")
      guard try isAnsweredYes(stop) else { return }
    }
    var options = LaunchOptions(command[0], Array(command.dropFirst()))
    options.input = .inherit
    options.environment[GroupVariables.group] = "\(group.id)"
    if let root = global.root { options.environment[GroupVariables.home] = root }
    let application: ChildProcess
    do { application = try ChildProcess(options) } catch {
      return global.terminal.warn(
        "cannot run `\(name)`: \(error.reason); correct application in the extension's manifest")
    }
    guard let status = application.wait(stop: stop) else {
      // It is the user's program: a stop ends only the wait.
      return application.leaveRunning()
    }
    if !status.isSuccess { global.terminal.warn("`\(name)` \(status)") }
  }

  private func isAnsweredYes(_ stop: StopSignal) throws -> Bool {
    if try waitUntilReadable([stop.descriptorNumber, 0], until: .never)[0] { return false }
    let answer = String(decoding: try readSome(0).prefix { $0 > 0x20 }, as: UTF8.self)
    return ["y", "yes"].contains(answer.lowercased())
  }
}
