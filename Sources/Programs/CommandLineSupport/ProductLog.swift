import AppGroup
import LogSinks
import Platform
import SharedLog
import Synchronization

/// The lines of this process in the group's log: its start and options, changes of its streams,
/// messages of libraries, the warnings and errors shown to its user, and its exit.
///
/// A process has one log, opened by `begin`. Lines are dropped before that, and if the group's log
/// cannot be written. Addresses are stripped of possible secrets (``LoggedText``).
public enum ProductLog {
  private struct State {
    var log: SharedLog?
    var sinks: [any LogSink] = []
    var label = ""
    var minimumLevel = LogLevel.info
    var isSilent = false
  }

  private static let state = Mutex(State())
  /// Strings removed from every line; the longest first, so that a shorter one cuts none in two.
  private static let secrets = Mutex<[String]>([])
  /// How long the end of a process may wait until its last lines are saved. The next process of the
  /// same user saves the others.
  private static let closeTimeout = Duration.seconds(2)

  /// Opens the group's log in the role of `--role`, else in `role` if this process may take it, or
  /// in any role that it may. If the log is unavailable, warns the user once and continues without
  /// it.
  /// - Parameters:
  ///   - work: the label of the program's own lines, such as `framebus-capture`.
  ///   - options: the command line options, without secrets.
  ///   - isSilent: drops all lines until ``setSilent(_:)``.
  public static func begin(
    _ work: String, in group: AppGroup, as role: Role, _ global: GlobalOptions,
    options: [String] = [], isSilent: Bool = false
  ) {
    let terminal = global.terminal
    var logOptions = LogOptions()
    do {
      let environment = try LogEnvironment(isVerbose: global.verbose)
      logOptions.minimumLevel = environment.minimumLevel
      logOptions.sinks = try environment.sinks(of: work)
    } catch {
      terminal.warn("\(error)")
    }
    var opened = State(
      sinks: logOptions.sinks, label: work, minimumLevel: logOptions.minimumLevel,
      isSilent: isSilent)
    do {
      let role = try global.role(in: group, preferring: role)
      opened.log = try SharedLog.open(group, role: role, options: logOptions)
    } catch {
      terminal.report("this process does not write to the group's log: \(error)")
    }
    state.withLock { $0 = opened }
    append(
      .info, "started",
      [LogField("version", programVersion), LogField("options", options.joined(separator: " "))])
  }

  /// Removes a secret from every later line, including those of libraries, which log their
  /// parameters.
  public static func leaveOut(_ secret: String) {
    secrets.withLock {
      $0 = LoggedText.encodings(of: secret).union($0).sorted { $0.count > $1.count }
    }
  }

  /// Drops all lines while `isSilent`.
  static func setSilent(_ isSilent: Bool) { state.withLock { $0.isSilent = isSilent } }

  /// Lines below this level are not written.
  public static var minimumLevel: LogLevel { state.withLock { $0.minimumLevel } }

  /// Appends a line.
  /// - Parameter label: the source of the line, such as a library; nil for the program itself.
  public static func append(
    _ level: LogLevel, _ message: @autoclosure () -> String, _ metadata: [LogField] = [],
    label: String? = nil, source: String = #fileID, line: UInt32 = #line
  ) {
    let now = state.withLock { $0 }
    guard level >= now.minimumLevel, !now.isSilent, now.log != nil || !now.sinks.isEmpty
    else { return }
    let message = secrets.withLock { $0 }.reduce(message()) { $0.replacing($1, with: "…") }
    let text = LoggedText.masked(message)
    let label = label ?? now.label
    if let log = now.log {
      log.append(level, text, label: label, metadata: metadata, source: source, line: line)
      return
    }
    let entry = LogLine(
      level, text, label: label, metadata: metadata, source: source, sourceLine: line)
    for sink in now.sinks { sink.append(entry) }
  }

  /// Logs the text of libcurl's `CURLOPT_DEBUGFUNCTION`: messages at level debug, headers at level
  /// trace, both without authentication, and no transferred data.
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

  /// Appends the last line and closes the log.
  static func end(status: Int32) {
    let level: LogLevel = status == 0 || status == 130 ? .info : .error
    append(level, "ended", [LogField("status", "\(status)")])
    close()
  }

  /// Runs a call of a media library, such as one that scans its plugins. Ctrl-C during the call
  /// ends the process at once.
  package static func interruptible<Value, Failure>(
    _ signals: SignalWatcher, _ call: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    try signals.endingAtOnce({ end(status: $0) }, during: call)
  }

  /// Closes the log while the process continues, such as before the group is removed.
  public static func close() {
    let log = state.withLock { state in
      defer { state = State() }
      return state.log
    }
    try? log?.close(until: .after(closeTimeout))
  }
}
