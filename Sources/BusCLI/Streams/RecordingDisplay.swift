import CommandLineSupport
import FrameBus
import Recording
import Synchronization

/// Shows a recording's progress on standard error.
final class RecordingDisplay: Sendable {
  private struct State {
    var earlier: RecordingFigures?
    var hasReportedPageCache = false
  }

  private let terminal: Terminal
  private let state = Mutex(State())

  init(_ terminal: Terminal) { self.terminal = terminal }

  func show(_ report: RecordingReport) {
    switch report {
    case .waitingForStream(let stream):
      terminal.report(
        "waiting for stream “\(stream)”; start its publisher, or see `framebus streams`")
    case .event(.publisherGone): terminal.report("the publisher is gone; waiting for it to return")
    case .event(.publisherBack): terminal.report("the publisher is back")
    case .event(.losslessEnded):
      terminal.warn("too slow to receive every frame: the publisher no longer waits for it")
    case .event(.evicted): terminal.report("the publisher disconnected this recorder; reconnecting")
    case .event(.paused(let reason)): terminal.report("paused: \(reason.explanation)")
    case .event(.resumed): terminal.report("resumed")
    case .event(.annotated): break
    case .progress(let figures): show(figures)
    }
  }

  private func show(_ figures: RecordingFigures) {
    let (earlier, reportsPageCache) = state.withLock { state in
      defer {
        state.earlier = figures
        if !figures.isDirect { state.hasReportedPageCache = true }
      }
      return (state.earlier, !figures.isDirect && !state.hasReportedPageCache)
    }
    if earlier == nil, let refusal = figures.ringRefusal {
      terminal.report(
        "io_uring is unavailable (\(refusal.reason)): frames are written one at a time; "
          + "see `framebus doctor`")
    }
    if reportsPageCache {
      terminal.report(
        "the file system does not support direct writes: frames go through the page cache")
    }
    guard let earlier else { return }
    terminal.progress(Self.line(figures, since: earlier))
  }

  static func line(_ figures: RecordingFigures, since earlier: RecordingFigures?) -> String {
    let rate = figures.framesPerSecond(since: earlier).text(places: 1)
    let speed = (figures.bytesPerSecond(since: earlier) / 1e6).text(places: 1)
    return "\(counted(figures.frames, "frame")), \(rate) fps, \(speed) MB/s, "
      + counted(figures.dropped, "drop")
  }
}
