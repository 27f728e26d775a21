import AppGroup
import ArgumentParser
import CommandLineSupport
import FoundationEssentials
import Platform
import SharedLog

/// `framebus log …`: the shared log of the group's processes.
struct Log: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show, follow, export or append to the group's log.",
    subcommands: [LogShow.self, LogAppend.self], defaultSubcommand: LogShow.self)
}

struct LogAppend: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "append", abstract: "Append a line to the log.")

  @Argument(help: ArgumentHelp("Message text.", valueName: "message"))
  var message: String
  @OptionGroup var choice: LevelOption
  @Option(help: ArgumentHelp("Subsystem that logs, such as capture.", valueName: "label"))
  var label = ""
  @Option(help: ArgumentHelp("Add a key and its value; repeatable.", valueName: "k=v"))
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
      throw UsageError("“\(levelText.plain)” is not a level; use \(names)")
    }
    return level
  }
}

/// Parses a `KEY=VALUE` argument.
func field(_ text: String) throws(UsageError) -> (key: String, value: String) {
  let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
  guard parts.count == 2, !parts[0].isEmpty else {
    throw UsageError("--metadata \(text): write KEY=VALUE")
  }
  return (String(parts[0]), String(parts[1]))
}

/// Parses a past time: an age such as `10m` (s, m, h, d), or an ISO 8601 date.
func pastMoment(_ text: String) throws(UsageError) -> UInt64 {
  let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86400]
  if let unit = text.last.flatMap({ units[$0] }), let count = Double(text.dropLast()),
    count >= 0, count * unit < 1e9
  {
    let now = wallNowNs()
    return now - min(now, UInt64(count * unit * 1e9))
  }
  guard let date = try? Date(text, strategy: .iso8601), date.timeIntervalSince1970 >= 0 else {
    throw UsageError("--since \(text): use 30s, 10m, 2h, 1d, or a date like 2027-01-31T00:00:00Z")
  }
  return UInt64(date.timeIntervalSince1970 * 1e9)
}
