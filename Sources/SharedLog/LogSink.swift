/// A line as it is said, before a run's number and time go with it.
public struct LogLine: Hashable, Sendable {
  public let level: LogLevel
  public let message: String
  public let label: String
  public let metadata: [LogField]
  /// The file of the call; empty where it is not known.
  public let source: String
  public let sourceLine: UInt32

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

/// A further place for a process's lines, outside the group: so it shows ``LogField/sharedValue``
/// of what goes with them.
public protocol LogSink: Sendable {
  /// Takes a line, or drops and counts it: whoever logs is not held up.
  func append(_ line: LogLine)
}
