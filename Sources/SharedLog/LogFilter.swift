import AppGroup

/// Selects lines. A line must meet every condition that is set.
public struct LogFilter: Sendable {
  /// The lowest level to accept.
  public var minimumLevel: LogLevel = .trace
  /// The roles to accept; empty for all.
  public var roles: Set<Role> = []
  /// Nanoseconds since 1970.
  public var sinceNs: UInt64 = 0
  /// Text that the message must contain; case matters.
  public var text: String = ""
  /// The labels to accept; empty for all.
  public var labels: Set<String> = []
  /// Keys with their required values.
  public var metadata: [String: String] = [:]

  /// A filter that accepts every line.
  public init() {}

  /// Whether a line passes all conditions.
  public func accepts(_ record: LogRecord) -> Bool {
    guard record.level >= minimumLevel, record.wallNs >= sinceNs else { return false }
    if !roles.isEmpty, !roles.contains(record.run.role) { return false }
    if !labels.isEmpty, !labels.contains(record.label) { return false }
    if !text.isEmpty, !record.message.contains(text) { return false }
    return metadata.allSatisfy { key, value in
      record.metadata.contains { $0.key == key && $0.value == value }
    }
  }
}
