import AppGroup
import ArgumentParser
import CommandLineSupport
import FoundationDefaults
import Platform
import SharedDefaults

/// `framebus defaults …`: settings that the group's members share.
struct Defaults: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Read, write and watch the group's shared settings.",
    subcommands: [
      DefaultsRead.self, DefaultsWrite.self, DefaultsRemove.self, DefaultsList.self,
      DefaultsExport.self, DefaultsImport.self, DefaultsWatch.self,
    ])
}

/// The suite that most verbs take.
struct SuiteChoice: ParsableArguments {
  @Argument(help: ArgumentHelp("Suite name.", valueName: "suite"))
  var name: String

  /// - Parameter creatingLocal: as in `openGroup`; false for verbs that only read.
  func opened(
    _ global: GlobalOptions, creatingLocal: Bool = false, plainKeys: Set<String> = []
  ) throws -> SharedDefaults {
    do { _ = try SuiteName(name) } catch { throw UsageError("\(error)") }
    return try SharedDefaults(
      suiteName: name, in: global.openGroup(creatingLocal: creatingLocal), plainKeys: plainKeys)
  }

  /// Opens a suite that exists and is readable.
  func openedForReading(_ global: GlobalOptions) throws -> SharedDefaults {
    let defaults = try opened(global)
    try defaults.refresh()
    if !defaults.exists { throw NoSuite(name: defaults.name, group: defaults.group) }
    return defaults
  }
}

struct DefaultsRead: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "read", abstract: "Print a setting, or all settings of a suite.",
    discussion: """
      A string is printed unchanged, every other value as JSON. A type that JSON lacks is an \
      object with one key: {"@data": BASE64}, {"@date": SECONDS SINCE 1970}, {"@url": TEXT}.
      """)

  @OptionGroup var suite: SuiteChoice
  @Argument(help: ArgumentHelp("Key (default: all).", valueName: "key"))
  var key: String?
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let defaults = try suite.openedForReading(global)
    guard let key else { return try printAll(defaults.storedValues()) }
    guard let value = defaults.value(forKey: key) else {
      throw NoKey(key: key, suite: defaults.name)
    }
    if case .string(let text) = value, !global.json {
      return try global.terminal.write(Array((text + "\n").utf8))
    }
    try global.terminal.printJSON(CodableValue(value, isJSON: true), onOneLine: !global.json)
  }

  private func printAll(_ values: [String: DefaultsValue]) throws {
    if global.json {
      return try global.terminal.write(plainJSON(DefaultsFormat.json.bytes(of: values)))
    }
    for (key, value) in values.sorted(by: { $0.key < $1.key }) {
      try global.terminal.print("\(key)  \(value.line)")
    }
  }
}

struct DefaultsWrite: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "write", abstract: "Write a setting.",
    discussion: """
      A key that looks like a secret is refused; use `framebus credential set` instead. Write a \
      value that begins with a hyphen after --, as in `write SUITE KEY --type int -- -1`.
      """)

  enum Kind: String, CaseIterable, ExpressibleByArgument {
    case string, int, double, bool, data, date, url, json
  }

  @OptionGroup var suite: SuiteChoice
  @Argument(help: ArgumentHelp("Key.", valueName: "key"))
  var key: String
  @Argument(
    help: ArgumentHelp(
      "Value; data in base64, a date in seconds since 1970.", valueName: "value"))
  var text: String
  @Option(help: "Type of the value.")
  var type: Kind = .string
  @Option(
    help: ArgumentHelp(
      "Write only if this is the present value; else exit with 1.", valueName: "value"))
  var ifEquals: String?
  @Flag(help: "Accept a key that looks like a secret.")
  var notSecret = false
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let value = try type.value(text)
    let expected = try ifEquals.map { try type.value($0) }
    let defaults = try suite.opened(
      global, creatingLocal: true, plainKeys: notSecret ? [key] : [])
    do {
      if let expected {
        guard try defaults.compareAndSet(key, expected: expected, to: value) else {
          throw NotEqual(key: key, found: defaults.value(forKey: key), expected: expected)
        }
      } else {
        try defaults.set(value, forKey: key)
      }
      if global.json { try global.terminal.printJSON(["written": key]) }
    } catch DefaultsError.invalidKey(let key) {
      throw UsageError("\(DefaultsError.invalidKey(key))")
    }
  }
}

struct DefaultsRemove: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove a setting, or a suite with all its settings.")

  @OptionGroup var suite: SuiteChoice
  @Argument(help: ArgumentHelp("Key (default: all).", valueName: "key"))
  var key: String?
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    try remove()
    if global.json { try global.terminal.printJSON(["removed": key ?? suite.name]) }
  }

  private func remove() throws {
    guard let key else {
      // An unreadable suite can be removed too.
      let defaults = try suite.opened(global)
      if !defaults.exists { throw NoSuite(name: defaults.name, group: defaults.group) }
      return try defaults.removeSuite()
    }
    let defaults = try suite.openedForReading(global)
    if defaults.value(forKey: key) == nil { throw NoKey(key: key, suite: defaults.name) }
    try defaults.removeObject(forKey: key)
  }
}

struct DefaultsList: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the group's suites.")

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let names = try SharedDefaults.list(in: global.openGroup()).map(\.text)
    if global.json { return try global.terminal.printJSON(names) }
    for name in names { try global.terminal.print(name) }
  }
}

// MARK: Errors

private struct NoSuite: Error, CustomStringConvertible {
  let name: SuiteName
  let group: GroupID

  var description: String {
    "there is no suite \(name) in the group \(group); see `framebus defaults list`, or create it"
      + " with `framebus defaults write \(name) KEY VALUE`"
  }
}

private struct NoKey: Error, CustomStringConvertible {
  let key: String
  let suite: SuiteName

  var description: String {
    "\(suite) has no setting \(key); see `framebus defaults read \(suite)`"
  }
}

private struct NotEqual: Error, CustomStringConvertible {
  let key: String
  let found: DefaultsValue?
  let expected: DefaultsValue

  var description: String {
    "\(key) is \(found?.line ?? "not set"), not \(expected.line); nothing was changed"
  }
}
