import AppGroup
import CLogLayout

/// A line of a log and the run that wrote it. Its texts are untrusted: do not print them to a
/// terminal unescaped.
///
/// A line refers to the bytes that it was read with, at most 256 KiB, which lines share, and its
/// texts are decoded when they are used. So reading allocates nothing for a line. Copy the texts
/// of single lines that you keep for long.
public struct LogRecord: Sendable {
  private let chunk: LogChunk
  private let start: Int

  /// - Parameter start: the offset of a record that ``RecordScanner/isLine(_:)`` accepted.
  init(_ chunk: LogChunk, at start: Int) {
    self.chunk = chunk
    self.start = start
  }

  /// Wall-clock time, in nanoseconds since 1970.
  public var wallNs: UInt64 { chunk.bytes.word(at: start + 24) }
  /// Monotonic time since the machine booted; lines are ordered by it.
  public var monotonicNs: UInt64 { chunk.bytes.word(at: start + 32) }
  /// The run of the process that wrote it.
  public var run: LogRun { chunk.run }
  /// Number of the line in its run, from 1, over all threads.
  public var sequence: UInt64 { chunk.bytes.word(at: start + 16) }
  /// How important it is.
  public var level: LogLevel { LogLevel(rawValue: chunk.bytes[start + 40]) ?? .trace }
  /// Whether the line was truncated to fit a record.
  public var isCut: Bool { chunk.bytes[start + 41] & UInt8(LG_CUT) != 0 }
  /// The part of the program that wrote it.
  public var label: String { text(parts.label) }
  /// The text.
  public var message: String { text(parts.message) }
  /// Its fields.
  public var metadata: [LogField] { chunk.bytes.fields(parts.metadata) ?? [] }
  /// File and line of the call, such as `Module/File.swift:12`; empty if unknown.
  public var source: String {
    let file = parts.source
    let line: UInt32 = chunk.bytes.word(at: start + 56)
    return file.isEmpty ? "" : "\(text(file)):\(line)"
  }

  private var parts: RecordParts { RecordParts(of: chunk.bytes, at: start) }

  private func text(_ range: Range<Int>) -> String {
    String(decoding: chunk.bytes[range], as: UTF8.self)
  }
}

extension LogRecord: Hashable {
  /// Compares what the lines say, and where they stand.
  public static func == (left: LogRecord, right: LogRecord) -> Bool {
    left.wallNs == right.wallNs && left.monotonicNs == right.monotonicNs
      && left.run == right.run && left.sequence == right.sequence && left.level == right.level
      && left.label == right.label && left.message == right.message
      && left.metadata == right.metadata && left.source == right.source
      && left.isCut == right.isCut
  }

  /// Uses run and number.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(run.name)
    hasher.combine(sequence)
    hasher.combine(monotonicNs)
  }
}

/// Bytes of a run that were read at once. Its records refer to them.
final class LogChunk: Sendable {
  let bytes: [UInt8]
  let run: LogRun

  init(_ bytes: [UInt8], of run: LogRun) {
    self.bytes = bytes
    self.run = run
  }
}

/// One run of one process that writes a log.
public struct LogRun: Hashable, Sendable {
  /// The prefix of its files' names.
  public let name: String
  /// The process.
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
  /// A line.
  case line(LogRecord)
  /// A gap: `count` lines were written or dropped, and are not in the log.
  case missing(count: UInt64, run: LogRun)
}
