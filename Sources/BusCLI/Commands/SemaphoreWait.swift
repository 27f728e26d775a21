import ArgumentParser
import CommandLineSupport
import GroupSemaphores
import Platform

/// `framebus semaphore wait NAME [--timeout S] [-- COMMAND…]`.
struct SemaphoreWait: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "wait", abstract: "Acquire a permit, blocking until one is available.",
    discussion: """
      With a command, as in `framebus semaphore wait gpu -- make film`, the permit is held while \
      the command runs and released when it ends; the exit status is the command's. A semaphore \
      created with --recover gets the permit back even if both processes are killed. Without a \
      command the permit stays taken until `framebus semaphore post`.
      """)

  @OptionGroup var choice: SemaphoreChoice
  @Option(help: ArgumentHelp("Timeout in seconds; exit status 1 when it ends.", valueName: "s"))
  var timeout: Double?
  @OptionGroup var acquisition: SemaphoreAcquisition
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func validate() throws {
    if let timeout, !(timeout >= 0 && timeout <= 1e9) {
      throw ValidationError("--timeout \(timeout): use seconds, 0 or more")
    }
  }

  func run() throws {
    let deadline = timeout.map { Deadline.after(.seconds($0)) } ?? .never
    try acquisition.run(choice, until: deadline, global)
  }
}

/// `framebus semaphore try NAME [-- COMMAND…]`.
struct SemaphoreTry: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "try", abstract: "Acquire a permit without blocking; status 1 if none.")

  @OptionGroup var choice: SemaphoreChoice
  @OptionGroup var acquisition: SemaphoreAcquisition
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws { try acquisition.run(choice, until: .now, global) }
}

/// Acquires a permit, for good or while a command runs.
struct SemaphoreAcquisition: ParsableArguments {
  @Argument(
    parsing: .postTerminator,
    help: ArgumentHelp("Command to run while the permit is held.", valueName: "command"))
  var command: [String] = []

  func run(_ choice: SemaphoreChoice, until deadline: Deadline, _ global: GlobalOptions) throws {
    // Before any thread starts, so that the signals are blocked in all threads.
    let signals = try SignalWatcher()
    let semaphore = try choice.open(global)
    let result = try semaphore.wait(until: deadline, stop: signals.stop)
    if global.json { try global.terminal.printJSON(WaitRecord(semaphore.name, result)) }
    switch result {
    case .stopped: throw Interrupted()
    case .timedOut:
      if global.json { throw AlreadyReported() }
      throw NoPermit(name: semaphore.name)
    case .taken:
      if let program = command.first {
        try hold(semaphore, for: program, signals, global.terminal)
      } else {
        // This process ends now, and must not release the permit.
        semaphore.leaveTaken()
      }
    }
  }

  private func hold(
    _ semaphore: GroupSemaphore, for program: String, _ signals: SignalWatcher,
    _ terminal: Terminal
  ) throws {
    var options = LaunchOptions(program, Array(command.dropFirst()))
    options.input = .inherit
    // If this process is killed, the command keeps holding the permit.
    options.inherited = [semaphore.holdingDescriptor]
    defer {
      // The command has run, so a semaphore that fails now is only a warning.
      do { try semaphore.post() } catch { terminal.warn("\(error)") }
    }
    try runToItsEnd(options, signals)
  }
}

private struct WaitRecord: Encodable {
  let name: String
  /// `taken`, `timedOut` or `stopped`.
  let outcome: String

  init(_ name: SemaphoreName, _ result: GroupSemaphore.WaitResult) {
    self.name = name.text
    outcome = "\(result)"
  }
}

/// No permit became available before the deadline.
private struct NoPermit: Error, CustomStringConvertible {
  let name: SemaphoreName

  var description: String {
    "no permit of the semaphore \(name) became available before the timeout; see `framebus "
      + "semaphore show \(name)`, or release one with `framebus semaphore post \(name)`"
  }
}
