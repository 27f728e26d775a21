import AppGroup
import LogSinks
import Platform
import SharedLog
import Synchronization

/// What this process says in the group's log: that it began and with which options, what became of
/// its streams, what the libraries it uses have to say, every warning and error that its user is
/// told, and how it ended.
///
/// A process has one, from `begin` on; before that, and where the group's log cannot be written,
/// lines are dropped. Addresses lose what may be a secret in them on the way (``LoggedText``).
public enum ProductLog {
  private struct State {
    var log: SharedLog?
    var sinks: [any LogSink] = []
    var label = ""
    var minimumLevel = LogLevel.info
  }

  private static let state = Mutex(State())
  /// What no line may hold; the longest first, so that none is left in pieces by a part of it.
  private static let secrets = Mutex<[String]>([])
  /// How long the end of a process may wait for its last lines to be saved. Those that are not yet
  /// are saved by the next process of the same user.
  private static let closingTime = Duration.seconds(2)

  /// Opens the group's log in the role of `--role`, or else in `role` if this process may take it,
  /// or in one that it may. Whatever a user should know of a log that is not to be had, they are
  /// told once; the process goes on without.
  /// - Parameters:
  ///   - work: what it does, such as `framebus-capture`: the label of its own lines.
  ///   - options: as its user gave them, without what may be a secret.
  public static func begin(
    _ work: String, in group: AppGroup, as role: Role, _ global: GlobalOptions,
    options: [String] = []
  ) {
    let terminal = global.terminal
    var logOptions = LogOptions()
    do {
      let wishes = try LogWishes(isVerbose: global.verbose)
      logOptions.minimumLevel = wishes.minimumLevel
      logOptions.sinks = try wishes.sinks(of: work)
    } catch {
      terminal.warn("\(error)")
    }
    var opened = State(
      sinks: logOptions.sinks, label: work, minimumLevel: logOptions.minimumLevel)
    do {
      let role = try global.role(in: group, preferring: role)
      opened.log = try SharedLog.open(group, role: role, options: logOptions)
    } catch {
      terminal.say("this process is not in the group's log: \(error)")
    }
    state.withLock { $0 = opened }
    append(
      .info, "started",
      [LogField("version", programVersion), LogField("options", options.joined(separator: " "))])
  }

  /// Leaves a secret out of every line from here on, whoever says it: libraries log what they are
  /// given.
  public static func leaveOut(_ secret: String) {
    secrets.withLock {
      $0 = LoggedText.spellings(of: secret).union($0).sorted { $0.count > $1.count }
    }
  }

  /// Lines below it are not written.
  public static var minimumLevel: LogLevel { state.withLock { $0.minimumLevel } }

  /// Appends a line.
  /// - Parameter label: what part speaks, such as a library; nil for the program itself.
  public static func append(
    _ level: LogLevel, _ message: @autoclosure () -> String, _ metadata: [LogField] = [],
    label: String? = nil, source: String = #fileID, line: UInt32 = #line
  ) {
    let now = state.withLock { $0 }
    guard level >= now.minimumLevel, now.log != nil || !now.sinks.isEmpty else { return }
    let message = secrets.withLock { $0 }.reduce(message()) { $0.replacing($1, with: "…") }
    let text = LoggedText.masked(message)
    let label = label ?? now.label
    if let log = now.log {
      log.append(level, text, label: label, metadata: metadata, source: source, line: line)
      return
    }
    let spoken = LogLine(
      level, text, label: label, metadata: metadata, source: source, sourceLine: line)
    for sink in now.sinks { sink.append(spoken) }
  }

  /// What libcurl gives its `CURLOPT_DEBUGFUNCTION`: its own text as a detail, headers below that,
  /// both without what authenticates, and nothing of what is transferred.
  /// - Parameter kind: libcurl's `curl_infotype`.
  public static func appendCurl(_ kind: UInt32, _ text: String) {
    let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
    switch kind {
    case 0 where !LoggedText.repeatsHeader(line): append(.debug, line, label: "curl")
    case 1: append(.trace, "< " + LoggedText.header(line), label: "curl")
    case 2: append(.trace, "> " + LoggedText.headers(text), label: "curl")
    default: break
    }
  }

  /// The last line, and the end of the log.
  static func end(status: Int32) {
    let level: LogLevel = status == 0 || status == 130 ? .info : .error
    append(level, "ended", [LogField("status", "\(status)")])
    close()
  }

  /// The end of the log while the process goes on, such as when the group is about to be removed.
  public static func close() {
    let log = state.withLock { state in
      defer { state = State() }
      return state.log
    }
    try? log?.close(until: .after(closingTime))
  }
}
