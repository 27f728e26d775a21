import AppGroup
import Platform

// The log that the processes of a group share: each writes files of its own, and every member reads
// all of them, merged by time. A line is there for others as soon as the call returns, whatever
// then becomes of the process. This module refuses to know what lines mean, to send them anywhere,
// and to let one process write another's. Format and failures: docs/design/log-segment.md.

/// Writes the log of one run of this process.
///
/// Any number of threads append at once. A call formats its line into memory that outlives the
/// process, without a system call; a thread of the log's own saves it to a file within
/// milliseconds.
///
/// A process needs one. When the last reference goes, or by ``close(until:)``, what is left is
/// saved and the memory given back; a process that ends without that loses nothing: the next run of
/// the same user in the group saves it.
public final class SharedLog: Sendable {
  public let options: LogOptions
  private let segment: Segment
  private let saver: Saver

  /// Begins the log of this process's run, and saves what dead runs of this user left.
  /// - Throws: ``LogError``: this process may not take the role, or there is no room for a segment.
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

  /// What the files of this run are called.
  public var runName: String { segment.name.text }

  /// Whether lines of a level are written: ask before making a costly message.
  @inlinable
  public func writes(_ level: LogLevel) -> Bool { level >= options.minimumLevel }

  /// Appends a line. Never throws: a line for which there is no room is dropped or waited for, as
  /// the options say, and the log says how many were dropped.
  /// - Parameters:
  ///   - label: what part of the program speaks, at most 255 bytes.
  ///   - metadata: what goes with the message, key by key.
  ///   - source: the file of the call, and `line` its line.
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

  /// Waits until every line that was appended before survives a power cut.
  public func flush(until deadline: Deadline = .after(.seconds(10))) throws(LogError) {
    try saver.flush(until: deadline)
  }

  /// Saves all lines and ends the run. What is appended afterwards is read by nobody.
  public func close(until deadline: Deadline = .after(.seconds(10))) throws(LogError) {
    saver.end()
    try saver.waitForEnd(until: deadline)
  }

  deinit { saver.end() }
}
