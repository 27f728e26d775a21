/// A line as the caller gave it, without number and time.
public struct LogLine: Hashable, Sendable {
  /// How important it is.
  public let level: LogLevel
  /// The text.
  public let message: String
  /// The part of the program that wrote it.
  public let label: String
  /// Its fields.
  public let metadata: [LogField]
  /// The file of the call; empty if unknown.
  public let source: String
  /// The line of source code.
  public let sourceLine: UInt32

  /// A line with all its parts.
  public init(
    _ level: LogLevel, _ message: String, label: String = "", metadata: [LogField] = [],
    source: String = "", sourceLine: UInt32 = 0
  ) {
    self.level = level
    self.message = message
    self.label = label
    self.metadata = metadata
    self.source = source
    self.sourceLine = sourceLine
  }
}

/// A further destination for a process's lines, outside the group. It must output
/// ``LogField/sharedValue`` of each field, not the value.
public protocol LogSink: Sendable {
  /// Takes a line, or drops and counts it. Must not block the thread that logs.
  func append(_ line: LogLine)
}
