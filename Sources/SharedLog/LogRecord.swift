import AppGroup

/// A line of a log and the run that wrote it. Its texts are untrusted: do not print them to a
/// terminal unescaped.
public struct LogRecord: Hashable, Sendable {
  /// Wall-clock time, in nanoseconds since 1970.
  public let wallNs: UInt64
  /// Monotonic time since the machine booted; lines are ordered by it.
  public let monotonicNs: UInt64
  public let run: LogRun
  /// Number of the line in its run, from 1, over all threads.
  public let sequence: UInt64
  public let level: LogLevel
  public let label: String
  public let message: String
  public let metadata: [LogField]
  /// File and line of the call, such as `Module/File.swift:12`; empty if unknown.
  public let source: String
  /// Whether the line was truncated to fit a record.
  public let isCut: Bool

  package init(
    wallNs: UInt64, monotonicNs: UInt64, run: LogRun, sequence: UInt64, level: LogLevel,
    label: String, message: String, metadata: [LogField], source: String, isCut: Bool
  ) {
    self.wallNs = wallNs
    self.monotonicNs = monotonicNs
    self.run = run
    self.sequence = sequence
    self.level = level
    self.label = label
    self.message = message
    self.metadata = metadata
    self.source = source
    self.isCut = isCut
  }
}

/// One run of one process that writes a log.
public struct LogRun: Hashable, Sendable {
  /// The prefix of its files' names.
  public let name: String
  public let pid: UInt32
  /// The user who owns the files, according to the kernel.
  public let uid: UInt32
  /// The role that the process claims.
  public let role: Role
  /// Whether the user may take that role.
  public let isRoleHeld: Bool
  /// The session that the run is part of, such as a broadcast; by default the run's name.
  public let session: String

  package init(
    name: String, pid: UInt32, uid: UInt32, role: Role, isRoleHeld: Bool, session: String
  ) {
    self.name = name
    self.pid = pid
    self.uid = uid
    self.role = role
    self.isRoleHeld = isRoleHeld
    self.session = session
  }
}

/// One result of reading a log.
public enum LogEntry: Sendable {
  case line(LogRecord)
  /// A gap: `count` lines were written or dropped, and are not in the log.
  case missing(count: UInt64, run: LogRun)
}
