import AppGroup
import ArgumentParser
import CommandLineSupport
import Platform
import SharedLog

/// `framebus log`: prints existing lines, and with `--follow` new ones as they arrive.
struct LogShow: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show all processes' lines, merged by time.",
    discussion: """
      Each line shows its time (UTC), level, role and process. Control characters and line breaks \
      in a line's text are shown as \\u{…}. Lost lines are reported on standard error. Private \
      values are shown, but not exported.

      With --all-machines, lines come from the server to which `framebus bridge` connects, in its \
      order, and the offset of each machine's clock is shown on standard error.

      FrameBus's own processes log here, from level $FRAMEBUS_LOG_LEVEL up (default: info, or \
      debug with --verbose). $FRAMEBUS_LOG_JOURNAL=1 copies their lines to systemd's journal, \
      $FRAMEBUS_LOG_JSON=FILE to a file of JSON lines.
      """)

  @Flag(help: "Print new lines as they arrive, until Ctrl-C.")
  var follow = false
  @Flag(help: "Show the lines of all machines of the group.")
  var allMachines = false
  @Option(help: ArgumentHelp("Show lines since 10m, 2h or 1d ago, or a date.", valueName: "time"))
  var since: String?
  @OptionGroup var choice: LevelOption
  @Option(help: ArgumentHelp("Show lines whose message contains TEXT.", valueName: "text"))
  var grep = ""
  @Option(help: ArgumentHelp("Show lines with this label; repeatable.", valueName: "label"))
  var label: [String] = []
  @Option(help: ArgumentHelp("Show lines with this key and value; repeatable.", valueName: "k=v"))
  var metadata: [String] = []
  @Option(
    help: ArgumentHelp(
      "Show a process's last 20 lines, even after its exit.", valueName: "pid"))
  var lastWords: UInt32?
  @Option(
    help: ArgumentHelp("Copy lines to a file of JSON lines in DIR.", valueName: "dir"))
  var export: String?
  @Option(
    help: ArgumentHelp(
      "Export, then remove the files of ended runs.", valueName: "dir"))
  var move: String?
  @OptionGroup(title: "Global options (--role filters lines by role)") var global: GlobalOptions

  func validate() throws {
    if export != nil && move != nil { throw ValidationError("--export or --move, not both") }
    if allMachines && (export != nil || move != nil || lastWords != nil) {
      throw ValidationError("--all-machines excludes --export, --move and --last-words; use one")
    }
    if follow && (export != nil || move != nil || lastWords != nil) {
      throw ValidationError("--follow excludes --export, --move and --last-words; use one")
    }
  }

  func run() throws {
    // Before any thread starts, because threads inherit the signal mask.
    let signals = try SignalWatcher()
    let filter = try filter()
    let group = try AppGroup.open(global.groupID(), root: global.root)
    if allMachines { return try showAllMachines(of: group, filter, signals) }
    let reader = try LogReader(group, isFollowing: follow)
    if let folder = export ?? move {
      let output = try LogExport(folder, group: group)
      let count = try read(reader, filter, signals.stop) { try output.add($0) }
      if count == 0 { try requireRole(of: group) }
      try output.finish()
      let removed = move == nil ? 0 : try reader.removeEndedRuns()
      global.terminal.report(
        "\(output.path): \(output.lineCount) lines"
          + (move == nil ? "" : ", \(removed) files moved"))
      return
    }
    let screen = LogScreen(isJSON: global.json)
    if let lastWords {
      var last: [LogRecord] = []
      try read(reader, filter, signals.stop) { record in
        guard record.run.pid == lastWords else { return }
        // Process IDs are reused: keep the lines of the last run with this one.
        if last.last?.run != record.run { last.removeAll() }
        if last.count == 20 { last.removeFirst() }
        last.append(record)
      }
      if last.isEmpty { throw NoWords(pid: lastWords) }
      for record in last { try screen.show(record) }
      return try screen.flush()
    }
    var count = 0
    while true {
      count += try read(reader, filter, signals.stop) { try screen.show($0) }
      try screen.flush()
      if count == 0 { try requireRole(of: group) }
      guard follow, try reader.wait(stop: signals.stop) else { break }
    }
    if signals.stop.isRaised { throw Interrupted() }
    if count == 0 { global.terminal.report("no line of the log matches") }
  }

  /// Lines stand in the order in which the server stored them, each with its machine's own time.
  private func showAllMachines(
    of group: AppGroup, _ filter: LogFilter, _ signals: SignalWatcher
  ) throws {
    let log = try AllMachinesLog(
      of: group, global, sinceNs: filter.sinceNs, follows: follow)
    let screen = LogScreen(isJSON: global.json)
    try log.run(signals, flush: { try screen.flush() }) { record, machine in
      if filter.accepts(record) { try screen.show(record, of: machine) }
    }
    try screen.flush()
    if signals.stop.isRaised { throw Interrupted() }
  }

  /// Rejects a role that neither the log nor the group has.
  private func requireRole(of group: AppGroup) throws {
    guard let text = global.roleText else { return }
    let roles = try AppGroup.describe(group.id, root: global.root).roles.map(\.role.description)
    if roles.contains(text) { return }
    throw UsageError(
      "--role \(text): the group \(group.id) has only the roles"
        + " \(roles.sorted().joined(separator: ", "))")
  }

  /// - Returns: the number of lines that the filter accepts.
  @discardableResult
  private func read(
    _ reader: LogReader, _ filter: LogFilter, _ stop: StopSignal,
    _ body: (LogRecord) throws -> Void
  ) throws -> Int {
    var count = 0
    while let entry = try reader.next() {
      if stop.isRaised { throw Interrupted() }
      switch entry {
      case .line(let record):
        guard filter.accepts(record) else { continue }
        try body(record)
        count += 1
      case .missing(let count, let run):
        global.terminal.warn("\(count) lines of \(run.role) (pid \(run.pid)) are missing")
      }
    }
    return count
  }

  private func filter() throws(UsageError) -> LogFilter {
    var filter = LogFilter()
    filter.minimumLevel = try choice.level() ?? .trace
    if let since { filter.sinceNs = try pastMoment(since) }
    if let text = global.roleText {
      filter.roles = [try parsedRole(text)]
    }
    filter.text = grep
    filter.labels = Set(label)
    for text in metadata {
      let (key, value) = try field(text)
      filter.metadata[key] = value
    }
    return filter
  }
}

private struct NoWords: Error, CustomStringConvertible {
  let pid: UInt32
  var description: String {
    "the log has no line of process \(pid); `framebus log` shows the processes that have lines"
  }
}
