import AppGroup
import ArgumentParser
import CommandLineSupport
import FoundationEssentials
import Platform
import SharedLog

/// `framebus log …`: the log that the group's processes share.
struct Log: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show the log of the group's processes, merged by time; follow, export, append.",
    subcommands: [LogShow.self, LogAppend.self], defaultSubcommand: LogShow.self)
}

struct LogAppend: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "append", abstract: "Append a line to the log.")

  @Argument(help: ArgumentHelp("What the line says.", valueName: "message"))
  var message: String
  @OptionGroup var choice: LevelOption
  @Option(help: ArgumentHelp("What part of the program speaks.", valueName: "label"))
  var label = ""
  @Option(help: ArgumentHelp("A key and a value that go with it; repeatable.", valueName: "k=v"))
  var metadata: [String] = []
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    var options = LogOptions()
    options.minimumLevel = .trace
    options.segmentBytes = 1 << 18
    let level = try choice.level() ?? .info
    let fields = try metadata.map { try field($0) }.map { LogField($0.key, $0.value) }
    let group = try global.openGroup(creatingLocal: true)
    let own = group.ownRoles
    let role = try global.role(default: own.contains(.host) ? .host : own.first ?? .host)
    let log = try SharedLog.open(group, role: role, options: options)
    log.append(level, message, label: label, metadata: fields, source: "")
    try log.close()
    if global.json { try global.terminal.printJSON(["appended": message]) }
  }
}

struct LevelOption: ParsableArguments {
  @Option(
    name: .customLong("level"),
    help: ArgumentHelp(
      "trace, debug, info, notice, warning, error or critical.", valueName: "level"))
  var levelText: String?

  func level() throws(UsageError) -> LogLevel? {
    guard let levelText else { return nil }
    guard let level = LogLevel(name: levelText) else {
      let names = LogLevel.allCases.map(\.description).joined(separator: ", ")
      throw UsageError("“\(levelText.plain)” is no level; use \(names)")
    }
    return level
  }
}

/// A `KEY=VALUE` of the command line.
func field(_ text: String) throws(UsageError) -> (key: String, value: String) {
  let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
  guard parts.count == 2, !parts[0].isEmpty else {
    throw UsageError("--metadata \(text): write KEY=VALUE")
  }
  return (String(parts[0]), String(parts[1]))
}

/// A moment in the past: `10m` ago (s, m, h, d), or a date as ISO 8601 has it.
func pastMoment(_ text: String) throws(UsageError) -> UInt64 {
  let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86400]
  if let unit = text.last.flatMap({ units[$0] }), let count = Double(text.dropLast()),
    count >= 0, count * unit < 1e9
  {
    let now = wallNowNs()
    return now - min(now, UInt64(count * unit * 1e9))
  }
  guard let date = try? Date(text, strategy: .iso8601), date.timeIntervalSince1970 >= 0 else {
    throw UsageError("--since \(text): use 30s, 10m, 2h or 1d, or such as 2027-01-31T00:00:00Z")
  }
  return UInt64(date.timeIntervalSince1970 * 1e9)
}
