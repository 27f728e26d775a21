import ArgumentParser
import CommandLineSupport
import FrameBus
import Platform
import Recording
import SharedLog

/// `framebus record`: writes a stream's frames to a file, unencoded.
struct RecordCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "record",
    abstract: "Record a stream's frames to a file, unencoded.",
    discussion: """
      Every frame is kept if the publisher waits for its subscribers, as one that plays a file \
      does. A live publisher never waits: frames that the disk is too slow for are dropped and \
      counted. Frames go directly from their slots to the disk where the file system allows it. \
      `framebus play FILE` plays the recording, even if the recorder was killed. Replaces an \
      existing file.
      """)

  @Argument(help: ArgumentHelp("Stream to record.", valueName: "stream"))
  var streamText: String

  @Argument(help: ArgumentHelp("File to write.", valueName: "file"))
  var path: String

  @Option(
    help: ArgumentHelp(
      "latest, keep:N or lossless[:SECONDS] (default: lossless from a file, else all frames that "
        + "the stream keeps).", valueName: "policy"))
  var policy: String?

  @Option(help: ArgumentHelp("Stop after N frames.", valueName: "n"))
  var frames: Int?

  @Option(help: ArgumentHelp("Stop S seconds after the first frame.", valueName: "s"))
  var duration: Double?

  @OptionGroup var global: GlobalOptions

  func validate() throws {
    if let frames, frames < 1 { throw ValidationError("--frames \(frames): use 1 or more") }
    if let duration, !(duration > 0 && duration <= 1e9) {
      throw ValidationError("--duration \(duration): use more than 0 seconds")
    }
  }

  func run() throws {
    var plan = RecordingPlan(stream: try streamName(streamText), path: path)
    plan.policy = try policy.map(subscriberPolicy)
    plan.frameLimit = frames
    plan.duration = duration.map { .seconds($0) }
    // Before any thread starts, because threads inherit the signal mask.
    let signals = try SignalWatcher()
    let display = RecordingDisplay(global.terminal)
    let summary: RecordingSummary
    do {
      let group = try global.openGroup()
      ProductLog.begin(
        "framebus record", in: group, as: .extension, global, options: [streamText, path])
      let captured = global.capturedAnnouncer(in: group, preferring: .extension)
      defer { captured?.end() }
      let recorder = try Recorder(
        plan, in: group, stop: signals.stop,
        report: { display.show($0) })
      summary = try recorder.run()
    } catch RecordingError.cannotSubscribe(.stopped) {
      return try endBySignal(signals)
    }
    global.terminal.endProgress()
    ProductLog.append(.info, "recording ended", summary.logged)
    if global.json {
      try global.terminal.printJSON(RecordingRecord(plan, summary), onOneLine: true)
    } else {
      global.terminal.report("\(path): " + RecordingDisplay.line(summary.figures, since: nil))
    }
    try endBySignal(signals)
    if summary.end == .publisherFailed { throw PublisherFailed(stream: plan.stream) }
  }
}

/// Ctrl-C exits with status 130; SIGTERM asks for this clean end, so its status is 0.
func endBySignal(_ signals: SignalWatcher) throws {
  if signals.isInterrupted { throw Interrupted() }
}

/// The publisher failed. Frames before that are complete.
struct PublisherFailed: Error, CustomStringConvertible {
  let stream: StreamName

  var description: String {
    "the publisher of “\(stream)” failed; see its own messages, and start it again"
  }
}

extension RecordingSummary {
  fileprivate var logged: [LogField] {
    [
      LogField("end", end.rawValue), LogField("frames", "\(figures.frames)"),
      LogField("drops", "\(figures.dropped)"), LogField("bytes", "\(figures.byteCount)"),
    ]
  }
}

/// The JSON form of the summary. Field names are a stable interface.
private struct RecordingRecord: Encodable {
  let stream: String
  let output: String
  let frames: UInt64
  let bytes: UInt64
  let drops: UInt64
  let fps: Double
  let bytes_per_second: Double
  let elapsed_ns: UInt64
  /// Whether writes bypassed the page cache.
  let isDirect: Bool
  /// Whether io_uring wrote several frames at once.
  let usesRing: Bool
  let end: String

  init(_ plan: RecordingPlan, _ summary: RecordingSummary) {
    let figures = summary.figures
    stream = plan.stream.text
    output = plan.path
    frames = figures.frames
    bytes = figures.byteCount
    drops = figures.dropped
    fps = (figures.framesPerSecond() * 1000).rounded() / 1000
    bytes_per_second = figures.bytesPerSecond().rounded()
    elapsed_ns = figures.elapsedNs
    isDirect = figures.isDirect
    usesRing = figures.ringRefusal == nil
    end = summary.end.rawValue
  }
}
