import ArgumentParser
import CommandLineSupport
import FoundationDefaults
import Platform
import SharedDefaults
import Synchronization

/// `framebus defaults watch SUITE [KEY] [--count N] [--timeout S]`.
struct DefaultsWatch: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch", abstract: "Print a line for each change of a setting, or of any.",
    discussion: """
      Changes that come faster than they are told are told as one, with the latest value. The \
      suite need not exist.
      """)

  @OptionGroup var suite: SuiteChoice
  @Argument(help: ArgumentHelp("The setting (default: all).", valueName: "key"))
  var key: String?
  @OptionGroup var limits: WatchLimits
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    // First of all, so that no thread is without it.
    let signals = try SignalWatcher()
    let deadline = limits.deadline
    let defaults = try suite.opened(global, creatingLocal: true)
    try defaults.refresh()
    let changes = try ChangeQueue()
    let observation = try defaults.observe(key) { changes.add($0) }
    defer { observation.cancel() }
    global.terminal.say("watching \(key.map { "\($0) of " } ?? "")\(defaults.name)")
    let told = try limits.shortfall(until: deadline, changes.descriptorNumber, signals) {
      guard let change = changes.take() else { return false }
      try print(change)
      return true
    }
    guard let told else { return }
    if global.json { throw AlreadyReported() }
    throw TooFewChanges(suite: defaults.name, told: told)
  }

  private func print(_ change: DefaultsChange) throws {
    if global.json {
      return try global.terminal.printJSON(ChangeRecord(change), onOneLine: true)
    }
    try global.terminal.print(
      "\(change.key)  \(change.value?.line ?? "removed")")
  }
}

/// Changes on their way from the thread that is told of them to the one that prints.
private final class ChangeQueue: Sendable {
  private let waiting = Mutex<[DefaultsChange]>([])
  private let counter: EventCounter

  init() throws(SystemError) { counter = try EventCounter() }

  var descriptorNumber: Int32 { counter.number }

  func add(_ change: DefaultsChange) {
    waiting.withLock { $0.append(change) }
    counter.raise()
  }

  func take() -> DefaultsChange? {
    waiting.withLock { waiting in
      if waiting.isEmpty {
        counter.lower()
        return nil
      }
      return waiting.removeFirst()
    }
  }
}

/// A change as scripts read it: the value is null for a setting that was removed.
private struct ChangeRecord: Encodable {
  let key: String
  let value: CodableValue?

  init(_ change: DefaultsChange) {
    key = change.key
    value = change.value.map { CodableValue($0, isJSON: true) }
  }

  private enum Key: String, CodingKey { case key, value }

  func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: Key.self)
    try values.encode(key, forKey: .key)
    try values.encode(value, forKey: .value)
  }
}

/// The time ended before the count was full.
private struct TooFewChanges: Error, CustomStringConvertible {
  let suite: SuiteName
  let told: Int

  var description: String {
    "the time ended after \(told) changes of \(suite); see what it holds with `framebus defaults"
      + " read \(suite)`, or give it more time with --timeout"
  }
}
