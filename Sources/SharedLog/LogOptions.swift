import Platform

/// How a process writes its log.
public struct LogOptions: Sendable {
  /// Lines below it are not written.
  public var minimumLevel: LogLevel = .info
  /// What this run is a part of, at most 48 bytes; nil takes `$FRAMEBUS_SESSION`, or the run's
  /// name.
  public var session: String?
  /// Bytes of lines that may wait to be saved: what a burst can have, and what is kept in memory
  /// for the process's whole life. A power of two, 256 KiB … 1 GiB.
  public var segmentBytes = 1 << 20
  /// What happens to a line for which the segment has no room.
  public var overflow: Overflow = .drop
  /// When lines survive a power cut, besides a ``SharedLog/flush(until:)``.
  public var durability: Durability = .errors
  /// A file of saved lines is followed by a new one when it has so many bytes …
  public var rotateBytes = 1 << 20
  /// … or is so old.
  public var rotateAfter: Duration = .seconds(24 * 3600)
  /// So many bytes of this user's files of the role are kept; the oldest go first.
  public var quotaBytes = 20 << 20
  /// Where lines go besides, by the thread that appends them.
  public var sinks: [any LogSink] = []

  public init() {}

  public enum Overflow: Hashable, Sendable {
    /// It is dropped, and counted: the log says how many were.
    case drop
    /// The caller waits for room, at most so long; then it is dropped.
    case wait(atMost: Duration)
  }

  public enum Durability: Hashable, Sendable {
    /// Errors are on the disk within milliseconds, with all before them; other lines when the
    /// kernel writes them.
    case errors
    /// Whatever is saved is on the disk.
    case everything
  }

  static let largestFileBytes = 1 << 26

  func check() throws(LogError) {
    guard (1 << 18...1 << 30).contains(segmentBytes), segmentBytes.nonzeroBitCount == 1 else {
      throw .invalidOption("segmentBytes is \(segmentBytes)", "a power of two, 256 KiB … 1 GiB")
    }
    guard (1 << 17...Self.largestFileBytes).contains(rotateBytes) else {
      throw .invalidOption("rotateBytes is \(rotateBytes)", "128 KiB … 64 MiB")
    }
    guard quotaBytes >= rotateBytes else {
      throw .invalidOption("quotaBytes is \(quotaBytes)", "at least rotateBytes, \(rotateBytes)")
    }
    if let session, !RunHeader.isSession(session) {
      throw .invalidOption("the session has \(session.utf8.count) bytes", "1…48 printable ones")
    }
  }
}
