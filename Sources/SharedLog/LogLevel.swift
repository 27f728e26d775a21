/// Severity of a line, with swift-log's levels.
public enum LogLevel: UInt8, CaseIterable, Comparable, Sendable, CustomStringConvertible {
  /// Each step of the program.
  case trace
  /// For those who look for a fault.
  case debug
  /// What the program does.
  case info
  /// What its user may want to know.
  case notice
  /// What may lead to an error.
  case warning
  /// Something failed.
  case error
  /// The program cannot go on.
  case critical

  public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }

  public var description: String {
    switch self {
    case .trace: "trace"
    case .debug: "debug"
    case .info: "info"
    case .notice: "notice"
    case .warning: "warning"
    case .error: "error"
    case .critical: "critical"
    }
  }

  /// The level with this name; nil for an unknown name.
  public init?(name: String) {
    guard let level = Self.allCases.first(where: { $0.description == name }) else { return nil }
    self = level
  }
}
