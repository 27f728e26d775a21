#if Media
  import CGStreamer
  import SharedLog
  import Synchronization

  // GStreamer's own log, for the log of the process that uses it. This module refuses to choose
  // where the lines go, and to start GStreamer.

  /// What GStreamer and its elements have to say, line by line.
  public enum GStreamerLog {
    public struct Line: Sendable {
      public let level: LogLevel
      /// The part of GStreamer, or the element, that speaks.
      public let category: String
      public let text: String
      public let source: String
      public let sourceLine: UInt32
    }

    private static let taker = Mutex<(@Sendable (Line) -> Void)?>(nil)

    /// Has all lines from here on given to a function, on any thread: warnings and errors, or what
    /// `GST_DEBUG` asks for, whose lines standard error then has as well. Call it once, before
    /// GStreamer starts or after.
    /// - Parameter minimumLevel: further lines, where they are wanted: GStreamer's information is a
    ///   debug line here. Its own debug lines, which are so many that no live connection survives
    ///   them, come as traces and only where `GST_DEBUG` asks for them.
    public static func begin(
      minimumLevel: LogLevel = .warning, _ take: @escaping @Sendable (Line) -> Void
    ) {
      taker.withLock { $0 = take }
      let level: fb_gstreamer_level =
        switch minimumLevel {
        case .trace, .debug: FB_GSTREAMER_INFO
        case .info, .notice, .warning: FB_GSTREAMER_WARNING
        case .error, .critical: FB_GSTREAMER_ERROR
        }
      // SAFETY: the function stays for ever.
      unsafe fb_gstreamer_log(takeGStreamerLine, level)
    }

    fileprivate static func take(_ line: Line) {
      // Not within the lock: who takes it may well log.
      let take = taker.withLock { $0 }
      take?(line)
    }
  }

  /// Called by CGStreamer on any thread.
  /// SAFETY: the strings are valid during the call.
  private func takeGStreamerLine(
    _ level: fb_gstreamer_level, _ category: UnsafePointer<CChar>?, _ text: UnsafePointer<CChar>?,
    _ source: UnsafePointer<CChar>?, _ line: Int32
  ) {
    guard let category = unsafe category, let text = unsafe text, let source = unsafe source else {
      return
    }
    GStreamerLog.take(
      GStreamerLog.Line(
        level: LogLevel(level), category: unsafe String(cString: category),
        text: unsafe String(cString: text), source: unsafe String(cString: source),
        sourceLine: UInt32(clamping: line)))
  }

  extension LogLevel {
    /// GStreamer's information is what others call details.
    fileprivate init(_ level: fb_gstreamer_level) {
      self =
        switch level {
        case FB_GSTREAMER_ERROR: .error
        case FB_GSTREAMER_WARNING: .warning
        case FB_GSTREAMER_INFO: .debug
        default: .trace
        }
    }
  }
#endif
