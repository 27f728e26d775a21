import LogSinks
import Platform
import SharedLog

/// What the environment asks of the log of every process:
///
/// - `FRAMEBUS_LOG_LEVEL`: the least level that is written; info without it, debug by `--verbose`.
/// - `FRAMEBUS_LOG_JOURNAL`: lines go to systemd's journal, too: `1`, or the path of its socket.
/// - `FRAMEBUS_LOG_JSON`: and to a file of JSON lines, by its path.
struct LogWishes {
  let minimumLevel: LogLevel
  private let journal: String?
  private let file: String?

  init(isVerbose: Bool) throws(LogWishError) {
    minimumLevel = try Self.level(isVerbose: isVerbose)
    journal = Self.value("FRAMEBUS_LOG_JOURNAL")
    file = Self.value("FRAMEBUS_LOG_JSON")
  }

  private static func level(isVerbose: Bool) throws(LogWishError) -> LogLevel {
    guard let text = value("FRAMEBUS_LOG_LEVEL") else { return isVerbose ? .debug : .info }
    guard let level = LogLevel(name: text) else { throw .unknownLevel(text) }
    return level
  }

  /// One that is empty is one that is not there.
  private static func value(_ name: String) -> String? {
    environmentValue(name).flatMap { $0.isEmpty ? nil : $0 }
  }

  /// - Parameter program: what the journal calls it.
  func sinks(of program: String) throws(LogWishError) -> [any LogSink] {
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

/// Why lines do not go where the environment wants them.
enum LogWishError: Error, CustomStringConvertible {
  case unknownLevel(String)
  case noSink(SystemError)

  var description: String {
    switch self {
    case .unknownLevel(let text):
      "FRAMEBUS_LOG_LEVEL=\(text) is no level; use "
        + LogLevel.allCases.map(\.description).joined(separator: ", ")
    case .noSink(let error):
      "lines go to the group's log alone: \(error); see FRAMEBUS_LOG_JOURNAL and FRAMEBUS_LOG_JSON"
    }
  }
}
