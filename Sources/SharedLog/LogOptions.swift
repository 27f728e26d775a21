import Platform

/// Options of a process's log.
public struct LogOptions: Sendable {
  /// Lines below this level are not written.
  public var minimumLevel: LogLevel = .info
  /// Groups the runs of one session, such as a broadcast; 1…48 printable ASCII characters. Nil uses
  /// `$FRAMEBUS_SESSION`, or else the run's name.
  public var session: String?
  /// Bytes of lines that can wait to be saved, so the largest burst. This memory is used for the
  /// process's whole life. A power of two, 256 KiB … 1 GiB.
  public var segmentBytes = 1 << 20
  /// What happens to a line when the segment is full.
  public var overflow: Overflow = .drop
  /// When lines survive a power cut, besides by ``SharedLog/flush(until:)``.
  public var durability: Durability = .errors
  /// A new file begins when the current one would exceed this many bytes, 128 KiB … 64 MiB …
  public var rotateBytes = 1 << 20
  /// … or reaches this age.
  public var rotateAfter: Duration = .seconds(24 * 3600)
  /// Bytes kept of this user's files in the role; the oldest files are removed first.
  public var quotaBytes = 20 << 20
  /// Further destinations of each line, called on the thread that appends it.
  public var sinks: [any LogSink] = []

  /// The usual options.
  public init() {}

  /// What happens to a line for which the segment has no space.
  public enum Overflow: Hashable, Sendable {
    /// The line is dropped and counted; the log reports the count.
    case drop
    /// The caller waits for room, at most this long; then the line is dropped.
    case wait(atMost: Duration)
  }

  /// When lines reach the disk.
  public enum Durability: Hashable, Sendable {
    /// Errors, and all lines before them, are on the disk within milliseconds; other lines when
    /// the kernel writes them back.
    case errors
    /// Every saved line is on the disk.
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
      throw .invalidOption(
        "the session has \(session.utf8.count) bytes", "1…48 printable ASCII characters")
    }
  }
}
