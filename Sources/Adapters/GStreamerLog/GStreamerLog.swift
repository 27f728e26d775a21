#if Media
  import CGStreamer
  import SharedLog
  import Synchronization

  // Forwards GStreamer's own log to the log of the process that uses it. This module refuses to
  // choose where the lines go, and to initialise GStreamer.

  /// Log lines of GStreamer and its elements.
  public enum GStreamerLog {
    public struct Line: Sendable {
      public let level: LogLevel
      /// The part of GStreamer, or the element, that logs.
      public let category: String
      public let text: String
      public let source: String
      public let sourceLine: UInt32
    }

    private static let handler = Mutex<(@Sendable (Line) -> Void)?>(nil)

    /// Passes all further lines to a function, on any thread: warnings and errors, or the lines
    /// that `GST_DEBUG` selects, which are then also written to standard error. Call it once,
    /// before or after GStreamer is initialised.
    /// - Parameter minimumLevel: adds lines: GStreamer's level INFO becomes debug. Its own level
    ///   DEBUG becomes trace, and only if `GST_DEBUG` selects it, because a live connection does
    ///   not survive that many lines.
    public static func begin(
      minimumLevel: LogLevel = .warning, _ handler: @escaping @Sendable (Line) -> Void
    ) {
      Self.handler.withLock { $0 = handler }
      let level: fb_gstreamer_level =
        switch minimumLevel {
        case .trace, .debug: FB_GSTREAMER_INFO
        case .info, .notice, .warning: FB_GSTREAMER_WARNING
        case .error, .critical: FB_GSTREAMER_ERROR
        }
      // SAFETY: the function exists as long as the process.
      unsafe fb_gstreamer_log(takeGStreamerLine, level)
    }

    fileprivate static func handle(_ line: Line) {
      // Without the lock, because the handler may log.
      let handler = Self.handler.withLock { $0 }
      handler?(line)
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
    GStreamerLog.handle(
      GStreamerLog.Line(
        level: LogLevel(level), category: unsafe String(cString: category),
        text: unsafe String(cString: text), source: unsafe String(cString: source),
        sourceLine: UInt32(clamping: line)))
  }

  extension LogLevel {
    /// GStreamer's INFO is detail that other libraries log as debug.
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
