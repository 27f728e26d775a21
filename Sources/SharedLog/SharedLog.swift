import AppGroup
import Platform

// The shared log of a group. Each process writes its own files, and every member reads all of
// them, merged by time. Other members can read a line as soon as the call returns, even if the
// process then dies. This module refuses to interpret lines, to send them anywhere, and to let one
// process write another's. Format and failures: docs/design/log-segment.md.

/// Writes the log of one run of this process.
///
/// Any number of threads append at once. A call makes no system call: it formats its line into
/// memory that outlives the process, and the log's own thread saves it to a file within
/// milliseconds.
///
/// A process needs one log. Releasing the last reference, or ``close(until:)``, saves the remaining
/// lines and frees the memory. A process that exits without that loses nothing: the next run of the
/// same user in the group saves its lines.
public final class SharedLog: Sendable {
  /// The options that `open` was given.
  public let options: LogOptions
  private let segment: Segment
  private let saver: Saver

  /// Begins the log of this run, and saves the lines that this user's dead runs left.
  /// - Throws: ``LogError``: if this process may not take the role, or the disk is full.
  public static func open(
    _ group: AppGroup, role: Role, options: LogOptions = LogOptions()
  ) throws(LogError) -> SharedLog {
    try options.check()
    do { try group.require(role) } catch { throw .group(error) }
    return try opened(in: group) { () throws(SystemError) in
      let segments = try Directory(path: group.logSegmentsPath)
      try Salvage(group).saveAll()
      let segment = try Segment.make(role, options, in: segments)
      return SharedLog(segment, try Saver(segment, options, group), options)
    }
  }

  private init(_ segment: Segment, _ saver: Saver, _ options: LogOptions) {
    self.segment = segment
    self.saver = saver
    self.options = options
  }

  /// The prefix of this run's file names.
  public var runName: String { segment.name.text }

  /// Whether lines of this level are written. Check it before building a costly message.
  @inlinable
  public func writes(_ level: LogLevel) -> Bool { level >= options.minimumLevel }

  /// Appends a line. Never throws: when the segment is full, the line is dropped or the call waits,
  /// as the options say. The log reports the number of dropped lines.
  /// - Parameters:
  ///   - label: the subsystem that logs, at most 255 bytes.
  ///   - metadata: keys and values that accompany the message.
  ///   - source: the file of the call; `line` is its line.
  @inlinable
  public func append(
    _ level: LogLevel, _ message: @autoclosure () -> String, label: String = "",
    metadata: @autoclosure () -> [LogField] = [], source: String = #fileID,
    line: UInt32 = #line
  ) {
    guard writes(level) else { return }
    write(level, message(), label, metadata(), source, line)
  }

  @usableFromInline func write(
    _ level: LogLevel, _ message: String, _ label: String, _ metadata: [LogField],
    _ source: String, _ sourceLine: UInt32
  ) {
    if !options.sinks.isEmpty {
      let line = LogLine(
        level, message, label: label, metadata: metadata, source: source, sourceLine: sourceLine)
      for sink in options.sinks { sink.append(line) }
    }
    func append() -> Bool {
      segment.append(level, message, label: label, metadata, source, sourceLine)
    }
    if append() { return }
    if case .wait(let longest) = options.overflow,
      saver.waitForRoom(until: .after(longest), append)
    {
      return
    }
    segment.drop()
  }

  /// Waits until all lines appended before the call survive a power cut.
  public func flush(until deadline: Deadline = .after(.seconds(10))) throws(LogError) {
    try saver.flush(until: deadline)
  }

  /// Saves all lines and ends the run. Lines appended afterwards are lost.
  public func close(until deadline: Deadline = .after(.seconds(10))) throws(LogError) {
    saver.end()
    try saver.waitForEnd(until: deadline)
  }

  deinit { saver.end() }
}
