import AppGroup
import ArgumentParser
import CommandLineSupport
import Platform
import SharedLog

/// `framebus log`: the lines that are there, and with `--follow` those that come.
struct LogShow: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show the log, merged by time (the default).",
    discussion: """
      Each line has its time (UTC), level, role and process. What a process wrote cannot end a \
      line, nor steer a terminal: such characters are shown as \\u{…}. Lines that were lost are \
      told of on standard error. Private values are shown, but not exported.

      The product's own processes log here. They write lines from $FRAMEBUS_LOG_LEVEL on (info, or \
      debug by --verbose), and with $FRAMEBUS_LOG_JOURNAL=1 to systemd's journal, with \
      $FRAMEBUS_LOG_JSON=FILE to a file of JSON lines, too.
      """)

  @Flag(help: "Go on with lines as they come, until Ctrl-C.")
  var follow = false
  @Option(help: ArgumentHelp("Lines since then: 10m, 2h, 1d, or a date.", valueName: "time"))
  var since: String?
  @OptionGroup var choice: LevelOption
  @Option(help: ArgumentHelp("Lines whose message holds TEXT.", valueName: "text"))
  var grep = ""
  @Option(help: ArgumentHelp("Lines of a label; repeatable.", valueName: "label"))
  var label: [String] = []
  @Option(help: ArgumentHelp("Lines with this value of a key; repeatable.", valueName: "k=v"))
  var metadata: [String] = []
  @Option(
    help: ArgumentHelp(
      "The last 20 lines of a process, dead or not.", valueName: "pid"))
  var lastWords: UInt32?
  @Option(
    help: ArgumentHelp("Copy the lines to a file of JSON lines in DIR.", valueName: "dir"))
  var export: String?
  @Option(
    help: ArgumentHelp(
      "The same, and remove from the group what ended runs left.", valueName: "dir"))
  var move: String?
  @OptionGroup(title: "Global options (--role chooses whose lines)") var global: GlobalOptions

  func validate() throws {
    if export != nil && move != nil { throw ValidationError("--export or --move, not both") }
    if follow && (export != nil || move != nil || lastWords != nil) {
      throw ValidationError("--follow goes with none of --export, --move and --last-words")
    }
  }

  func run() throws {
    // First of all, so that no thread is without it.
    let signals = try SignalWatcher()
    let filter = try filter()
    let group = try AppGroup.open(global.groupID(), root: global.root)
    let reader = try LogReader(group, isFollowing: follow)
    if let folder = export ?? move {
      let output = try LogExport(folder, group: group)
      try read(reader, filter, signals.stop) { try output.add($0) }
      try output.finish()
      let removed = move == nil ? 0 : try reader.removeEndedRuns()
      global.terminal.say(
        "\(output.path): \(output.lineCount) lines"
          + (move == nil ? "" : ", \(removed) files moved"))
      return
    }
    let screen = LogScreen(isJSON: global.json)
    if let lastWords {
      var last: [LogRecord] = []
      try read(reader, filter, signals.stop) { record in
        guard record.run.pid == lastWords else { return }
        // A process id comes again: the last run to have it is meant.
        if last.last?.run != record.run { last.removeAll() }
        if last.count == 20 { last.removeFirst() }
        last.append(record)
      }
      if last.isEmpty { throw NoWords(pid: lastWords) }
      for record in last { try screen.show(record) }
      return try screen.flush()
    }
    while true {
      try read(reader, filter, signals.stop) { try screen.show($0) }
      try screen.flush()
      guard follow, try reader.wait(stop: signals.stop) else { break }
    }
    if signals.stop.isRaised { throw Interrupted() }
  }

  private func read(
    _ reader: LogReader, _ filter: LogFilter, _ stop: StopSignal,
    _ body: (LogRecord) throws -> Void
  ) throws {
    while let entry = try reader.next() {
      if stop.isRaised { throw Interrupted() }
      switch entry {
      case .line(let record): if filter.accepts(record) { try body(record) }
      case .missing(let count, let run):
        global.terminal.warn("\(count) lines of \(run.role) (pid \(run.pid)) are missing")
      }
    }
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
    "no line of a process \(pid) is kept; `framebus log` shows whose there are"
  }
}
