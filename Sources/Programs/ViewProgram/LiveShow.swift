#if Media
  import AppGroup
  import CommandLineSupport
  import FrameBus
  import Platform
  import SharedLog
  import Synchronization
  import Upload
  import UploadGStreamer

  /// Reads and encodes the streams while there are viewers, and is idle otherwise.
  final class LiveShow: Sendable {
    /// The wait before streams are read again after one has ended or failed.
    private static let pause = Duration.milliseconds(500)
    private static let endTimeout = Duration.seconds(10)

    let figures: ViewFigures
    /// Ends a show that `start` began.
    let stop: StopSignal
    private let hasEnded: StopSignal
    private let streams: [StreamName]
    let viewers: Viewers
    private let encoder: EncoderSettings
    private let group: AppGroup
    private let terminal: Terminal
    private let isChosen: Bool
    /// Ends the current run.
    private let current = Mutex<StopSignal?>(nil)

    init(
      _ streams: [StreamName], isChosen: Bool = false, to viewers: Viewers,
      _ encoder: EncoderSettings, in group: AppGroup, _ terminal: Terminal
    ) throws(SystemError) {
      stop = try StopSignal()
      hasEnded = try StopSignal()
      self.streams = streams
      self.isChosen = isChosen
      self.viewers = viewers
      self.encoder = encoder
      self.group = group
      self.terminal = terminal
      figures = ViewFigures(viewers, of: streams[0])
    }

    /// The stream of the pictures.
    var stream: StreamName { streams[0] }

    private func destination() -> ViewersDestination {
      ViewersDestination(viewers, encoder: encoder)
    }

    /// Checks that the destination can work.
    func prepare() throws(DestinationError) {
      let destination = destination()
      if streams.count > 1 { destination.expectSound() }
      try destination.prepare()
    }

    /// Runs on a thread of its own, until `stop` is raised.
    func start() throws(SystemError) {
      try startThread(named: "show") { [self] in
        do { try run(until: stop) } catch { terminal.warn("“\(stream)”: \(error)") }
        hasEnded.raise()
      }
    }

    /// Waits until a show that `start` began has ended.
    func waitForEnd() {
      _ = try? waitUntilReadable([hasEnded.descriptorNumber], until: .after(Self.endTimeout))
    }

    /// Runs until the signal is raised.
    func run(until stop: StopSignal) throws {
      try startThread(named: "end") { [viewers] in
        _ = try? waitUntilReadable([stop.descriptorNumber], until: .never)
        viewers.close()
      }
      try startThread(named: "audience") { [self, viewers] in
        while viewers.wait(untilWatched: true), viewers.wait(untilWatched: false) { endRun() }
        endRun()
      }
      var lastError = ""
      while viewers.wait(untilWatched: true) {
        do {
          try runOnce(stop)
        } catch {
          if "\(error)" != lastError { terminal.warn("\(error)") }
          lastError = "\(error)"
        }
        figures.rest()
        // The encoder's memory, since the next viewer may come much later.
        returnFreeMemory()
        _ = try waitUntilReadable([stop.descriptorNumber], until: .after(Self.pause))
      }
    }

    private func endRun() { current.withLock { $0?.raise() } }

    private func runOnce(_ stop: StopSignal) throws {
      let end = try StopSignal()
      current.withLock { $0 = end }
      defer { current.withLock { $0 = nil } }
      if stop.isRaised { return }
      let destination = destination()
      let takeLatencyP50Ns = destination.takeLatencyP50Ns
      let plan = UploadPlan(stream: streams[0], sound: Array(streams.dropFirst()))
      let runner = UploadRunner(plan, to: destination, in: group, stop: end) { [self] report in
        figures.take(report, takeLatencyP50Ns)
        show(report)
      }
      ProductLog.append(.info, "reading the streams for viewers")
      let summary = try runner.run()
      ProductLog.append(
        .info, "stopped reading the streams", [LogField("frames", "\(summary.progress.frames)")])
    }

    // MARK: Output

    /// Precedes what is said of a stream that viewers chose.
    private var name: String { isChosen ? "“\(stream)”: " : "" }

    private func show(_ report: UploadReport) {
      switch report {
      case .progress: terminal.progress(name + figures.line)
      case .waitingForStream(let stream):
        terminal.report(
          "waiting for stream “\(stream)”; start its publisher, or see `framebus streams`")
      case .publisherGone:
        terminal.report(name + "the publisher is gone; waiting for it to come back")
      case .publisherBack: terminal.report(name + "the publisher is back")
      case .soundRefused(let stream, let refusal):
        terminal.report("“\(stream)” is left out: \(refusal)")
      case .paused(let stream, let reason):
        terminal.report("“\(stream)” is paused: \(reason.explanation)")
      case .resumed(let stream): terminal.report("“\(stream)” continues")
      case .attached, .losslessEnded, .format, .oldPicture, .annotated: break
      }
    }
  }
#endif
