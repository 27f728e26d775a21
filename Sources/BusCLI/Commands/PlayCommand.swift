import AppGroup
import ArgumentParser
import CommandLineSupport
import FrameBus
import Platform
import Recording

/// `framebus play`: writes a stream or a recording as y4m, or publishes a recording as a stream.
struct PlayCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "play",
    abstract: "Write a stream or a recording to standard output as y4m.",
    discussion: """
      For example, `framebus play screen | ffplay -`. Planar YUV and grey pictures are written \
      unchanged; semi-planar and packed YUV become planar; RGB becomes 4:4:4 by BT.601 with video \
      levels. A y4m file has one size and layout, so a stream that changes them is an error. A \
      recording plays as fast as it is read, or with --realtime at the pace of its time \
      stamps.
      """)

  @Argument(
    help: ArgumentHelp(
      "Recording, if a file of that name exists, else stream.",
      valueName: "stream-or-file"))
  var source: String

  @Option(help: ArgumentHelp("Start at the recording's frame N, counted from 1.", valueName: "n"))
  var from: Int?

  @Option(help: ArgumentHelp("Stop after N frames.", valueName: "n"))
  var frames: Int?

  @Flag(help: "Play a recording at the pace of its time stamps.")
  var realtime = false

  @Flag(help: "Write the frames' bytes unchanged, of any kind.")
  var raw = false

  @Option(
    help: ArgumentHelp(
      "Publish a recording as this stream, once a subscriber attaches.",
      valueName: "name"))
  var toStream: String?

  @OptionGroup var global: GlobalOptions

  func validate() throws {
    try global.refuseJSON("frames are written as y4m, or --raw")
    if let frames, frames < 1 { throw ValidationError("--frames \(frames): use 1 or more") }
    if let from, from < 1 { throw ValidationError("--from \(from): use 1 or more") }
    if toStream != nil, raw {
      throw ValidationError("--raw applies to standard output, not to --to-stream; omit one")
    }
  }

  func run() throws {
    let target = try toStream.map(streamName)
    // Before any thread starts, because threads inherit the signal mask.
    let signals = try SignalWatcher()
    do {
      if OutputFile(source).exists || source.contains("/") {
        try play(RecordingReader(path: source), to: target, stop: signals.stop)
      } else {
        try playStream(try liveSource(), stop: signals.stop)
      }
    } catch PlayError.system(let error) {
      // A closed standard output is handled in one place for every verb.
      throw error
    }
    try endBySignal(signals)
  }

  // MARK: A stream

  private func liveSource() throws -> StreamName {
    for (name, isGiven) in [
      ("--from", from != nil), ("--realtime", realtime), ("--to-stream", toStream != nil),
    ] where isGiven {
      throw UsageError("\(name) applies to recordings, and there is no file \(source)")
    }
    return try streamName(source)
  }

  private func playStream(_ name: StreamName, stop: StopSignal) throws {
    let group = try global.openGroup()
    beginLog(in: group)
    var stream = try WholeStream(
      name, in: group, WholeStream.Options(),
      waitingForPublisherUntil: nil, stop: stop)
    var output = PictureOutput(isRaw: raw)
    defer { reportDrops(stream.droppedCount) }
    var left = frames ?? .max
    while left > 0 {
      switch try stream.next(until: .never, stop: stop) {
      case .frame(let lease):
        try output.write(lease.format, lease.metadata.orientation, lease.bytes)
        left -= 1
      case .timedOut: continue
      case .stopped: return
      case .finished(let reason):
        if reason == .failed { throw PublisherFailed(stream: name) }
        return
      }
    }
  }

  private func reportDrops(_ count: UInt64) {
    if count == 0 { return }
    global.terminal.report("\(count) frames dropped: the reader was too slow")
    ProductLog.append(.notice, "\(count) frames dropped: the reader was too slow")
  }

  private func beginLog(in group: AppGroup) {
    let target = toStream.map { ["--to-stream=\($0)"] } ?? []
    ProductLog.begin("framebus play", in: group, as: .host, global, options: [source] + target)
  }

  // MARK: A recording

  private func play(_ reader: RecordingReader, to target: StreamName?, stop: StopSignal) throws {
    if !reader.index.isFinished {
      global.terminal.report(
        "the recording is incomplete: it has \(reader.index.count) whole frames")
    }
    let first = from ?? 1
    let count = reader.index.count
    if count == 0 { throw NothingToPlay(path: source) }
    guard first <= count else {
      throw UsageError("\(source) has \(count) frames; use --from 1 to \(count)")
    }
    let numbers = first...first + min(count - first, (frames ?? .max) - 1)
    if let target {
      try publish(numbers, of: reader, as: target, stop: stop)
    } else {
      try write(numbers, of: reader, stop: stop)
    }
  }

  private func write(
    _ numbers: ClosedRange<Int>, of reader: RecordingReader, stop: StopSignal
  ) throws {
    var output = PictureOutput(isRaw: raw)
    var clock = PlaybackClock()
    for number in numbers {
      let frame = try reader.frame(number)
      guard waitUntilDue(frame, &clock, stop) else { return }
      try output.write(frame, of: reader)
    }
  }

  private func publish(
    _ numbers: ClosedRange<Int>, of reader: RecordingReader, as target: StreamName,
    stop: StopSignal
  ) throws {
    let group = try global.openGroup(creatingLocal: true)
    beginLog(in: group)
    let announcer = StreamAnnouncer(of: target, in: group, global)
    var publisher = try Republisher(
      target, in: group, first: try reader.frame(numbers.lowerBound),
      streamChanged: announcer.announce)
    guard publisher.waitForSubscriber(stop: stop) else { return publisher.finish(.stopped) }
    var clock = PlaybackClock()
    var next: RecordedFrame?
    for number in numbers {
      let frame = try next ?? reader.frame(number)
      // A damaged one is an error when its turn comes.
      next = try? (number < numbers.upperBound ? reader.frame(number + 1) : nil)
      guard waitUntilDue(frame, &clock, stop),
        try publisher.publish(frame, before: next, from: reader, stop: stop)
      else { return publisher.finish(.stopped) }
    }
    publisher.finish(.ended)
  }

  /// - Returns: false if the stop signal was raised first.
  private func waitUntilDue(
    _ frame: RecordedFrame, _ clock: inout PlaybackClock, _ stop: StopSignal
  ) -> Bool {
    guard realtime else { return !stop.isRaised }
    let due = clock.due(ptsNs: frame.metadata.ptsNs, nowNs: monotonicNowNs())
    _ = try? firstReadable(stop.descriptorNumber, until: due)
    return !stop.isRaised
  }
}

/// The recording has no frames.
private struct NothingToPlay: Error, CustomStringConvertible {
  let path: String

  var description: String { "\(path) has no whole frame" }
}
