// ScreenRecorder: captures a screen or a window in the calling process, for an application that
// wants its frames there, as ReplayKit's RPScreenRecorder does.
//
// The frames are a stream of the group, so other members can receive them too. X11 only. The module
// refuses to encode, to record sound, and to show protected windows.

import AppGroup
import Capture
import CaptureX11
import FrameBus
import Platform
import Synchronization

/// Captures a screen or a window, and calls a handler with each frame.
///
/// ```swift
/// let recorder = ScreenRecorder(in: group, stream: try StreamName("screen"))
/// try recorder.startCapture { frame in
///   print(frame.format.width, frame.format.height, frame.withUnsafeBytes { $0.count })
/// }
/// ```
public final class ScreenRecorder: Sendable {
  private let group: AppGroup
  private let stream: StreamName
  private let current = Mutex<RecorderRun?>(nil)

  /// What to capture, and how.
  public struct Options: Hashable, Sendable {
    /// Nil for the display that `DISPLAY` names.
    public var display: String?
    /// The window to capture alone; nil for the whole screen.
    public var window: WindowSelector?
    /// How to capture, as the options of `framebus capture screen` say, with the same defaults:
    /// 30 frames a second at most, with the cursor, and paused while the screen saver is on.
    /// Settings that a screen does not have, such as those of sound, are an error of the start.
    ///
    /// `protection` names windows that are black in every frame. So are, always, those with the X
    /// property `_FRAMEBUS_PROTECTED`, and those of the group's setting `protectedWindows`, as it
    /// is at each moment. A malformed setting is an error of the start; while it is malformed
    /// later, no frame comes. Protection cannot be turned off.
    public var capture = CaptureSettings()

    /// The whole screen, with the usual settings.
    public init() {}
  }

  /// - Parameter stream: published while a capture runs.
  public init(in group: AppGroup, stream: StreamName) {
    self.group = group
    self.stream = stream
  }

  /// Whether a capture runs.
  public var isRecording: Bool { current.withLock { $0?.hasEnded == false } }

  /// Starts a capture, and returns when frames can come, or when it has ended again: it was stopped
  /// by another thread, or its window was closed. Blocks while the X server answers, and with the
  /// window `.pick` until the user has clicked. Keeps the notification `framebus.captured` while
  /// the capture runs.
  /// - Parameters:
  ///   - onPause: called when no frame comes until `onResume`, with the reason: the screen is off,
  ///     locked or shows its saver, or the window is hidden (`unavailable`), or the picture is
  ///     changing (`transition`). Called again if the reason changes. A pause may last until the
  ///     end.
  ///   - onResume: called when frames can come again.
  ///   - onNotice: called with what the user should know of the capture, as text for people, such
  ///     as that the X server cannot share memory (MIT-SHM), so that frames take more processor
  ///     time.
  ///   - handler: called for each frame, one at a time, on a thread of the capture. The frame is
  ///     valid during the call. A slow handler misses frames: `FrameLease.droppedBefore`. The other
  ///     closures are called on the same thread.
  ///   - onEnd: called once on the same thread, after the last frame, even if none came; with the
  ///     error, if one ended the capture. Nil if it was stopped, or the window was closed. Not
  ///     called if this throws.
  /// - Throws: ``ScreenRecorderError/alreadyRecording``, or why the capture cannot start.
  public func startCapture(
    _ options: Options = Options(),
    onPause: @escaping @Sendable (PauseReason) -> Void = { _ in },
    onResume: @escaping @Sendable () -> Void = {},
    onNotice: @escaping @Sendable (String) -> Void = { _ in },
    onEnd: @escaping @Sendable (ScreenRecorderError?) -> Void = { _ in },
    handler: @escaping @Sendable (borrowing FrameLease) -> Void
  ) throws(ScreenRecorderError) {
    let run: RecorderRun
    do { run = try RecorderRun(group, stream) } catch { throw .capture(error) }
    let isFree = current.withLock { current in
      guard current?.hasEnded ?? true else { return false }
      current = run
      return true
    }
    if !isFree { throw .alreadyRecording }
    let handlers = RecorderRun.Handlers(
      frame: handler, paused: onPause, resumed: onResume, noticed: onNotice, ended: onEnd)
    do { try run.start(options, handlers) } catch {
      current.withLock { if $0 === run { $0 = nil } }
      throw error
    }
  }

  /// Ends the capture. The handler may still be in a call; ``waitUntilEnded()`` waits for it.
  public func stopCapture() { current.withLock { $0 }?.stop.raise() }

  /// Waits until the handler has returned from its last call. Not for use in the handler.
  /// - Throws: the error that ended the capture.
  public func waitUntilEnded() throws(ScreenRecorderError) {
    try current.withLock { $0 }?.waitUntilEnded()
  }

  deinit { stopCapture() }
}

/// Why a capture did not start, or ended.
public enum ScreenRecorderError: Error, CustomStringConvertible {
  /// One capture at a time: stop it, and wait until it has ended.
  case alreadyRecording
  /// Protection was turned off, which a recorder never does.
  case unprotected
  /// FrameBus was built without its package trait `Media`.
  case noMedia
  /// The capture's own error, which says what to do.
  case capture(any Error)

  public var description: String {
    switch self {
    case .alreadyRecording:
      "the recorder is capturing already: call stopCapture and waitUntilEnded first, or use another"
        + " recorder with a stream of another name"
    case .unprotected:
      "a recorder always hides protected windows: leave its protection on, or publish the screen"
        + " with `framebus capture screen --no-protect`"
    case .noMedia:
      "this build of FrameBus cannot capture screens; rebuild it with the package trait Media"
    case .capture(let error): "\(error)"
    }
  }
}
