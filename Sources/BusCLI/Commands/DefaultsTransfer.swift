import ArgumentParser
import CommandLineSupport
import FoundationDefaults
import FoundationEssentials
import Platform
import SharedDefaults

/// `framebus defaults export SUITE [--format FORMAT]`.
struct DefaultsExport: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Write a suite to standard output.",
    discussion: "In a property list a URL is a dictionary with one key, @url.")

  @OptionGroup var suite: SuiteChoice
  @Option(help: "json, or a property list: xml or binary.")
  var format: DefaultsFormat = .json
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let values = try suite.openedForReading(global).storedValues()
    let bytes = try format.bytes(of: values)
    try global.terminal.write(format == .json ? plainJSON(bytes) : bytes)
  }
}

extension DefaultsFormat: ExpressibleByArgument {}

/// `framebus defaults import SUITE [FILE] [--replace]`.
struct DefaultsImport: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import", abstract: "Set all keys of a JSON file or property list at once.")

  @OptionGroup var suite: SuiteChoice
  @Argument(help: ArgumentHelp("File to read (default: standard input).", valueName: "file"))
  var path: String?
  @Flag(help: "Remove keys that the file lacks.")
  var replace = false
  @Flag(help: "Accept keys that look like secrets.")
  var notSecret = false
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    // Before any thread starts, so that every thread blocks the signals.
    let signals = try SignalWatcher()
    let bytes = try read(stop: signals.stop)
    if signals.stop.isRaised { throw Interrupted() }
    let values = try DefaultsFormat.values(in: bytes)
    let defaults = try suite.opened(
      global, creatingLocal: true, plainKeys: notSecret ? values.allKeys : [])
    try defaults.update { draft in
      if replace { for key in draft.keys { draft[key] = nil } }
      for (key, value) in values { draft[key] = value }
    }
    try global.report(
      "imported \(values.count) settings into \(defaults.name)", asJSON: ["imported": values.count])
  }

  private func read(stop: StopSignal) throws -> [UInt8] {
    let reader =
      try path.map { path throws(SystemError) in try ByteReader(path: path) }
      ?? ByteReader(standardInput: ())
    var bytes: [UInt8] = []
    while bytes.count <= DefaultsFormat.maximumBytes {
      let more = try reader.read(atMost: 65536, stop: stop)
      if more.isEmpty { break }
      bytes += more
    }
    return bytes
  }
}

extension [String: DefaultsValue] {
  /// The keys, including those inside values.
  fileprivate var allKeys: Set<String> {
    values.reduce(into: Set(keys)) { $0.formUnion($1.allKeys) }
  }
}

extension DefaultsValue {
  fileprivate var allKeys: Set<String> {
    switch self {
    case .array(let values): values.reduce(into: []) { $0.formUnion($1.allKeys) }
    case .dictionary(let values): values.allKeys
    default: []
    }
  }

  /// The value as one line of JSON without terminal control characters.
  var line: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let data = try? encoder.encode(CodableValue(self, isJSON: true))
    return data.map { String(decoding: $0, as: UTF8.self).plain } ?? "\(self)".plain
  }
}

extension DefaultsWrite.Kind {
  /// Parses a command-line argument as this type.
  func value(_ text: String) throws(UsageError) -> DefaultsValue {
    if let value = read(text) { return value }
    throw UsageError("“\(text)” is not a valid \(rawValue); \(advice)")
  }

  private func read(_ text: String) -> DefaultsValue? {
    switch self {
    case .string: .string(text)
    case .url: .url(text)
    case .int: Int(text).map { .integer($0) }
    case .double: Double(text).map { .double($0) }
    case .date: Double(text).map { .date($0) }
    case .data: Data(base64Encoded: text).map { .data(Array($0)) }
    case .bool: Self.truths[text.lowercased()].map { .bool($0) }
    case .json:
      try? JSONDecoder().decode(CodableValue.self, from: Data(text.utf8)).unmarked
    }
  }

  private static let truths = [
    "true": true, "yes": true, "1": true, "false": false, "no": false, "0": false,
  ]

  private var advice: String {
    switch self {
    case .string, .url: "use any text"
    case .int: "use a whole number from \(Int.min) to \(Int.max)"
    case .double: "use a number such as 0.5 or 1e3"
    case .date: "use seconds since 1970, as `date +%s` prints them"
    case .data: "use base64, as `base64 -w0 FILE` prints it"
    case .bool: "use true or false"
    case .json: "use JSON without null, in quotes: '{\"fps\": 30}'"
    }
  }
}
