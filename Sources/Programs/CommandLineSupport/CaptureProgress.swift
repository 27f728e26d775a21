import Capture
import FrameBus
import Platform
import SharedLog
import Synchronization

/// Shows the progress of a capture: one line per second, redrawn in place on a terminal.
final class CaptureProgress: Sendable {
  private struct State {
    var earlier: CaptureFigures?
    /// Whether the last line reported a wait for a subscriber.
    var isWaiting = false
    var drops = DropNews()
  }

  private let terminal: Terminal
  private let stream: StreamName
  private let state = Mutex(State())

  init(_ terminal: Terminal, stream: StreamName) {
    self.terminal = terminal
    self.stream = stream
  }

  func show(_ figures: CaptureFigures) {
    state.withLock { state in
      // Where lines cannot be redrawn, the wait is reported once.
      let isIdle = figures.subscribers == 0 && state.earlier?.frames ?? 0 == figures.frames
      if terminal.isInteractive || !(isIdle && state.isWaiting) {
        terminal.progress(
          isIdle
            ? "stream “\(stream)”: \(figures.frames) frames, waiting for a subscriber"
            : Self.line(figures, since: state.earlier))
        state.isWaiting = isIdle
      }
      state.earlier = figures
      if let count = state.drops.take(figures.missedDeadlines, nowNs: monotonicNowNs()) {
        ProductLog.append(
          .notice, "frames dropped: the source was too slow", [LogField("count", "\(count)")])
      }
    }
  }

  static func line(_ figures: CaptureFigures, since earlier: CaptureFigures?) -> String {
    let fps = (figures.framesPerSecond(since: earlier) * 10).rounded() / 10
    var parts = [counted(figures.frames, "frame"), "\(fps) fps"]
    parts.append("\(figures.missedDeadlines) drops")
    if figures.unchanged > 0 { parts.append("\(figures.unchanged) unchanged") }
    if figures.copied > 0 { parts.append("\(figures.copied) copied") }
    if earlier != nil { parts.append("\(figures.subscribers) subscribers") }
    return parts.joined(separator: ", ")
  }
}
