import Logging
import SharedLog

// A swift-log backend for the group's log, so that a program and its packages write to one log. A
// separate module, so that only its users depend on swift-log. It refuses to open or configure a
// log.

/// A handler for swift-log's `Logger` that writes to a `SharedLog`. It is a value: copies of a
/// logger do not share their metadata or level.
///
/// ```swift
/// let log = try SharedLog.open(group, role: .host)
/// LoggingSystem.bootstrap { SharedLogHandler(label: $0, log: log) }
/// ```
public struct SharedLogHandler: LogHandler {
  /// Fields of every line.
  public var metadata: Logger.Metadata = [:]
  /// Adds fields to each line.
  public var metadataProvider: Logger.MetadataProvider?
  /// Lines below this level, or below the log's own minimum level, are not written.
  public var logLevel: Logger.Level
  private let label: String
  private let log: SharedLog

  /// A handler that appends to a log.
  public init(
    label: String, log: SharedLog, metadataProvider: Logger.MetadataProvider? = nil
  ) {
    self.label = label
    self.log = log
    self.metadataProvider = metadataProvider
    logLevel = Logger.Level(log.options.minimumLevel)
  }

  /// A field of every line.
  public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  /// Appends a line, unless its level is below the handler's.
  public func log(event: LogEvent) {
    log.append(
      LogLevel(event.level), event.message.description, label: label, metadata: fields(event),
      source: event.file, line: UInt32(clamping: event.line))
  }

  /// For equal keys, the call's metadata wins over the provider's, and that over the logger's.
  private func fields(_ event: LogEvent) -> [LogField] {
    // Most calls have nothing to merge, and need no dictionary.
    if metadata.isEmpty, metadataProvider == nil, event.metadata == nil, event.error == nil {
      return []
    }
    let provided = metadataProvider?.get() ?? [:]
    var all = metadata
    all.merge(provided) { $1 }
    all.merge(event.metadata ?? [:]) { $1 }
    if let error = event.error { all["error"] = "\(error)" }
    return all.sorted { $0.key < $1.key }.map { key, value in
      LogField(key, value.description, isPrivate: value.attributes[Privacy.self] == .secret)
    }
  }
}

/// Whether a metadata value may leave the group: `"\(address, attributes: [Privacy.secret])"`.
public enum Privacy: Int64, Logger.MetadataValueAttributes.Attribute, Sendable {
  /// It may.
  case shared
  /// It is shown within the group alone, and never exported.
  case secret
}

extension LogLevel {
  fileprivate init(_ level: Logger.Level) {
    self =
      switch level {
      case .trace: .trace
      case .debug: .debug
      case .info: .info
      case .notice: .notice
      case .warning: .warning
      case .error: .error
      case .critical: .critical
      }
  }
}

extension Logger.Level {
  fileprivate init(_ level: LogLevel) {
    self =
      switch level {
      case .trace: .trace
      case .debug: .debug
      case .info: .info
      case .notice: .notice
      case .warning: .warning
      case .error: .error
      case .critical: .critical
      }
  }
}
