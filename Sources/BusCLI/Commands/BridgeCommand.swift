import AppGroup
import ArgumentParser
import CommandLineSupport
import Confinement
import CredentialStore
import Platform

/// `framebus bridge`: runs `framebus-bridge` confined, with the one secret that it needs.
struct BridgeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bridge", abstract: "Connect the group with other machines.",
    discussion: """
      Carries notifications, settings, the log and the list of streams over a NATS server with \
      JetStream, until Ctrl-C. Only what the table [bridge] of the group's manifest lists crosses; \
      without it, nothing does:

        [bridge]
        notifications = ["org.example.started"]
        suites = ["org.example.settings"]
        log = true
        [bridge.streams]
        screen = ["srt://HOST:PORT"]

      Credentials never cross, and semaphores do not either. The server's certificate is verified; \
      only a server on this machine is reached without encryption.
      """)

  @OptionGroup var bridge: BridgeOptions
  @OptionGroup var store: StoreOptions
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let signals = try SignalWatcher()
    let group = try global.openGroup(creatingLocal: true)
    let started = try ConfinedBridge(
      bridge, store, global, in: group, arguments: global.arguments + bridge.arguments)
    try started.run(signals)
  }
}

/// A started `framebus-bridge`.
struct ConfinedBridge {
  private let role: RunningRole

  /// - Parameter output: its standard output; nil for this process's.
  init(
    _ bridge: BridgeOptions, _ store: StoreOptions, _ global: GlobalOptions, in group: AppGroup,
    arguments: [String], output: Int32? = nil
  ) throws {
    let name = "framebus-bridge"
    guard let path = siblingProgram(named: name) else { throw MissingProgram(name: name) }
    var options = LaunchOptions(path, arguments)
    if let output { options.output = .descriptor(output) }
    // The variables say the same where the options do not.
    options.environment[GroupVariables.group] = "\(group.id)"
    if let root = global.root { options.environment[GroupVariables.home] = root }
    // Stays open until the program has started.
    let secret = try Self.secret(of: bridge, store, global)
    switch secret {
    case .none: break
    case .some(let secret):
      options.arguments.insert("--secret-fd=3", at: 0)
      options.inherited = [secret.number]
    }
    defer { withExtendedLifetime(secret) {} }
    var confinement = Confinement.extension(in: group)
    if let path = bridge.caText {
      guard path.hasPrefix("/") else { throw UsageError("--ca \(path): use an absolute path") }
      confinement.grants.append(PathGrant(.read, path))
    }
    guard let launcher = try? Launcher() else {
      global.terminal.warn("the bridge is not confined: framebus-confine is missing")
      role = RunningRole(unconfined: try ChildProcess(options))
      return
    }
    role = try launcher.start(options, confinement: confinement)
    for measure in role.measures where !measure.isOn {
      global.terminal.detail("not confined by \(measure.name): \(measure.detail)")
    }
  }

  /// The secret in a pipe, which holds as much as a secret may have.
  private static func secret(
    of bridge: BridgeOptions, _ store: StoreOptions, _ global: GlobalOptions
  ) throws -> Descriptor? {
    guard let text = bridge.credential else { return nil }
    let name: CredentialName
    do { name = try CredentialName(text) } catch { throw UsageError("\(error)") }
    let secret = try store.opened(global).get(name)
    guard secret.byteCount <= 4096 else {
      throw UsageError("--credential \(name): a secret for NATS has at most 4096 bytes")
    }
    let pipe = try OneWayPipe()
    try secret.withBytes { try writeData($0, to: pipe.writeEnd.number) }
    // Closes the write end: the reader then finds the secret's end.
    return pipe.takeReadEnd()
  }

  /// Passes a stop on to the program, and exits with its status.
  func run(_ signals: SignalWatcher) throws {
    if role.wait(stop: signals.stop) == nil {
      role.process.send(signal: signals.signal ?? Signal.terminate)
      _ = role.wait(until: .after(.seconds(15)))
    }
    let ending = role.ending ?? role.stop()
    if signals.isInterrupted { throw Interrupted() }
    switch ending {
    case .finished: break
    // Its error is printed.
    case .failed(let status): throw ExitCode(status)
    default: throw BridgeEnded(ending: ending)
    }
  }

  /// Ends the program.
  func stop() { role.stop() }
}

private struct BridgeEnded: Error, CustomStringConvertible {
  let ending: RoleEnding
  var description: String { "framebus-bridge \(ending); see `framebus log --level warning`" }
}
