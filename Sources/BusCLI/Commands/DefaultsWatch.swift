import ArgumentParser
import CommandLineSupport
import FoundationDefaults
import Platform
import SharedDefaults
import Synchronization

/// `framebus defaults watch SUITE [KEY] [--count N] [--timeout S]`.
struct DefaultsWatch: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch", abstract: "Print a line for each change of one or all settings.",
    discussion: """
      Changes that come faster than they can be printed are merged into one line with the latest \
      value. The suite need not exist.
      """)

  @OptionGroup var suite: SuiteChoice
  @Argument(help: ArgumentHelp("Key (default: all).", valueName: "key"))
  var key: String?
  @OptionGroup var limits: WatchLimits
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    // Before any thread starts, so that every thread blocks the signals.
    let signals = try SignalWatcher()
    let deadline = limits.deadline
    let defaults = try suite.opened(global, creatingLocal: true)
    try defaults.refresh()
    let changes = try ChangeQueue()
    let observation = try defaults.observe(key) { changes.add($0) }
    defer { observation.cancel() }
    global.terminal.report("watching \(key.map { "\($0) of " } ?? "")\(defaults.name)")
    let reported = try limits.shortfall(until: deadline, changes.descriptorNumber, signals) {
      guard let change = changes.take() else { return false }
      try print(change)
      return true
    }
    guard let reported else { return }
    if global.json { throw AlreadyReported() }
    throw TooFewChanges(suite: defaults.name, reported: reported)
  }

  private func print(_ change: DefaultsChange) throws {
    if global.json {
      return try global.terminal.printJSON(ChangeRecord(change), onOneLine: true)
    }
    try global.terminal.print(
      "\(change.key)  \(change.value?.line ?? "removed")")
  }
}

/// A queue of changes from the thread that observes them to the one that prints.
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

/// A change as JSON: the value is null for a setting that was removed.
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

/// The timeout passed before `--count` changes arrived.
private struct TooFewChanges: Error, CustomStringConvertible {
  let suite: SuiteName
  let reported: Int

  var description: String {
    "timed out after \(reported) changes of \(suite); read it with `framebus defaults read"
      + " \(suite)`, or raise --timeout"
  }
}
