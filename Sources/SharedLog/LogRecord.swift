import AppGroup

/// A line of a log, with who wrote it. Its texts are whatever that process wrote: a terminal must
/// not be given them as they are.
public struct LogRecord: Hashable, Sendable {
  /// When, by the wall clock: nanoseconds since 1970.
  public let wallNs: UInt64
  /// When, by the monotonic clock of the machine's run: what lines are ordered by.
  public let monotonicNs: UInt64
  public let run: LogRun
  /// From 1, counted by the process for all its threads.
  public let sequence: UInt64
  public let level: LogLevel
  public let label: String
  public let message: String
  public let metadata: [LogField]
  /// Such as `Module/File.swift:12`; empty where that is not known.
  public let source: String
  /// Whether the line was longer than a record can be, and lacks its end.
  public let isCut: Bool
}

/// One run of one process that writes a log.
public struct LogRun: Hashable, Sendable {
  /// What its files' names begin with.
  public let name: String
  public let pid: UInt32
  /// The user who owns the file, as the kernel says.
  public let uid: UInt32
  /// As it says itself.
  public let role: Role
  /// Whether the user may hold that role.
  public let isRoleHeld: Bool
  /// What it is a part of, such as a broadcast; the run's name where nobody said.
  public let session: String
}

/// What a reader meets.
public enum LogEntry: Sendable {
  case line(LogRecord)
  /// So many lines of a run were written, or tried to be, and are not there.
  case missing(count: UInt64, run: LogRun)
}
