import LogSinks
import Platform
import SharedLog

/// The environment variables that configure the log of every process:
///
/// - `FRAMEBUS_LOG_LEVEL`: the lowest level written; default info, or debug with `--verbose`.
/// - `FRAMEBUS_LOG_JOURNAL`: also write to systemd's journal: `1`, or the path of its socket.
/// - `FRAMEBUS_LOG_JSON`: also write JSON lines to the file at this path.
struct LogEnvironment {
  let minimumLevel: LogLevel
  private let journal: String?
  private let file: String?

  init(isVerbose: Bool) throws(LogEnvironmentError) {
    minimumLevel = try Self.level(isVerbose: isVerbose)
    journal = Self.value("FRAMEBUS_LOG_JOURNAL")
    file = Self.value("FRAMEBUS_LOG_JSON")
  }

  private static func level(isVerbose: Bool) throws(LogEnvironmentError) -> LogLevel {
    guard let text = value("FRAMEBUS_LOG_LEVEL") else { return isVerbose ? .debug : .info }
    guard let level = LogLevel(name: text) else { throw .unknownLevel(text) }
    return level
  }

  /// An empty variable counts as unset.
  private static func value(_ name: String) -> String? {
    environmentValue(name).flatMap { $0.isEmpty ? nil : $0 }
  }

  /// - Parameter program: the identifier in the journal.
  func sinks(of program: String) throws(LogEnvironmentError) -> [any LogSink] {
    var sinks: [any LogSink] = []
    do {
      if let journal {
        let path = journal.hasPrefix("/") ? journal : JournalSink.usualPath
        sinks.append(try JournalSink(identifier: program, path: path))
      }
      if let file { sinks.append(try JSONLinesSink(path: file)) }
    } catch { throw .noSink(error) }
    return sinks
  }
}

/// A variable that cannot be applied.
enum LogEnvironmentError: Error, CustomStringConvertible {
  case unknownLevel(String)
  case noSink(SystemError)

  var description: String {
    switch self {
    case .unknownLevel(let text):
      "FRAMEBUS_LOG_LEVEL=\(text) is not a log level; use "
        + LogLevel.allCases.map(\.description).joined(separator: ", ")
    case .noSink(let error):
      "logging only to the group's log: \(error); see FRAMEBUS_LOG_JOURNAL and FRAMEBUS_LOG_JSON"
    }
  }
}
