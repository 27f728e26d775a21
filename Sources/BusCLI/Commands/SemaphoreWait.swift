import ArgumentParser
import CommandLineSupport
import GroupSemaphores
import Platform

/// `framebus semaphore wait NAME [--timeout S] [-- COMMAND…]`.
struct SemaphoreWait: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "wait", abstract: "Take a count, waiting until there is one.",
    discussion: """
      With a command, as in `framebus semaphore wait gpu -- make film`, the count is held while \
      the command runs and given back when it ends; the exit status is the command's. A \
      semaphore made with --recover gets it back even if both are killed. Without a command the \
      count stays taken until `framebus semaphore post`.
      """)

  @OptionGroup var choice: SemaphoreChoice
  @Option(help: ArgumentHelp("Give up after S seconds: exit status 1.", valueName: "s"))
  var timeout: Double?
  @OptionGroup var taking: SemaphoreTaking
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func validate() throws {
    if let timeout, !(timeout >= 0 && timeout <= 1e9) {
      throw ValidationError("--timeout \(timeout): use seconds, 0 or more")
    }
  }

  func run() throws {
    let deadline = timeout.map { Deadline.after(.seconds($0)) } ?? .never
    try taking.run(choice, until: deadline, global)
  }
}

/// `framebus semaphore try NAME [-- COMMAND…]`.
struct SemaphoreTry: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "try", abstract: "Take a count if there is one now; exit status 1 if not.")

  @OptionGroup var choice: SemaphoreChoice
  @OptionGroup var taking: SemaphoreTaking
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws { try taking.run(choice, until: .now, global) }
}

/// Taking a count, for good or while a command runs.
struct SemaphoreTaking: ParsableArguments {
  @Argument(
    parsing: .postTerminator,
    help: ArgumentHelp("What to run while the count is held.", valueName: "command"))
  var command: [String] = []

  func run(_ choice: SemaphoreChoice, until deadline: Deadline, _ global: GlobalOptions) throws {
    // First of all, so that no thread is without it.
    let signals = try SignalWatcher()
    let semaphore = try choice.opened(global)
    let waited = try semaphore.wait(until: deadline, stop: signals.stop)
    if global.json { try global.terminal.printJSON(WaitRecord(semaphore.name, waited)) }
    switch waited {
    case .stopped: throw Interrupted()
    case .timedOut:
      if global.json { throw AlreadyReported() }
      throw NoCount(name: semaphore.name)
    case .taken:
      if let program = command.first {
        try hold(semaphore, for: program, signals, global.terminal)
      } else {
        // This process ends now, and the count shall not end with it.
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
    // Should this process be killed, the command goes on holding the count.
    options.inherited = [semaphore.holdingDescriptor]
    defer {
      // Whatever became of the semaphore meanwhile, the command has run.
      do { try semaphore.post() } catch { terminal.warn("\(error)") }
    }
    try runToItsEnd(options, signals)
  }
}

private struct WaitRecord: Encodable {
  let name: String
  /// taken, timedOut or stopped.
  let outcome: String

  init(_ name: SemaphoreName, _ waited: GroupSemaphore.Waited) {
    self.name = name.text
    outcome = "\(waited)"
  }
}

/// There was no count in time.
private struct NoCount: Error, CustomStringConvertible {
  let name: SemaphoreName

  var description: String {
    "no count of the semaphore \(name) was to be had in time; see `framebus semaphore show "
      + "\(name)`, or give one back with `framebus semaphore post \(name)`"
  }
}
