/// Severity of a line, with swift-log's levels.
public enum LogLevel: UInt8, CaseIterable, Comparable, Sendable, CustomStringConvertible {
  case trace, debug, info, notice, warning, error, critical

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
