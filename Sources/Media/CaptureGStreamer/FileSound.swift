#if Media
  import Capture
  import FrameBus
  import Platform
  import Sound
  import Synchronization

  /// The sound of a file, published by its own thread: pictures and sound may each have to wait for
  /// their subscribers while the other continues.
  ///
  /// It keeps the file's time stamps, as the pictures do, runs at most half a second ahead of them,
  /// and ends with them.
  final class FileSound: @unchecked Sendable {
    // because once its thread runs, only that thread uses `sink`, and everything else has locks

    /// How far it runs ahead, and how often it checks whether it may continue.
    private static let leadNs: Int64 = 500_000_000
    private static let pollInterval = Duration.milliseconds(20)
    /// Two and a half seconds: a subscriber that attaches soon after the start misses nothing.
    private static let ringDepth = 256

    private var sink: SoundSink
    /// Separate from the pictures' session: `stop` is raised when the pictures have ended.
    private let session: CaptureSession
    private let refused: @Sendable (String) -> Void
    /// The time stamp of the newest picture, and that of the pictures' end.
    private let picturesNs = Atomic<Int64>(.min)
    private let endNs = Atomic<Int64>(.max)
    private let isPublished: StopSignal
    private let hasBegun: StopSignal
    private let hasEnded: StopSignal
    private var isStarted = false

    /// - Parameters:
    ///   - session: names the stream to publish.
    ///   - refused: called on the thread with the reason if the file's sound is left out.
    init(
      _ sink: consuming SoundSink, in session: CaptureSession,
      refused: @escaping @Sendable (String) -> Void
    ) throws(PipelineError) {
      self.sink = sink
      self.session = session
      self.refused = refused
      do throws(SystemError) {
        isPublished = try StopSignal()
        hasBegun = try StopSignal()
        hasEnded = try StopSignal()
      } catch {
        throw .system(error)
      }
    }

    // MARK: Called by the pictures' thread

    /// Publishes the stream, and returns once it exists: it is there before the pictures are.
    func start() throws(PipelineError) {
      do throws(SystemError) {
        try startThread(named: "file sound") { [self] in
          run()
          isPublished.raise()
          hasEnded.raise()
        }
      } catch {
        throw .system(error)
      }
      isStarted = true
      wait(for: isPublished)
    }

    /// Starts publishing: the pictures have a subscriber.
    func begin() { hasBegun.raise() }

    // Relaxed: a number by itself, which orders nothing.
    func notePicture(atNs ptsNs: Int64) { picturesNs.store(ptsNs, ordering: .relaxed) }

    /// Announces the end of the pictures. Returns when the sound up to there is published, or the
    /// pictures' session is over.
    func finish(atNs ptsNs: Int64, of pictures: CaptureSession) {
      // Relaxed: a number by itself.
      endNs.store(ptsNs, ordering: .relaxed)
      guard isStarted else { return }
      _ = try? waitUntilReadable(
        [hasEnded.descriptorNumber, pictures.stop.descriptorNumber], until: pictures.deadline)
      end()
    }

    /// Ends the sound at once.
    func end() {
      session.stop.raise()
      // The thread owns the sink while it runs, and flushes it when it ends.
      if isStarted { wait(for: hasEnded) } else { sink.flush() }
    }

    private func wait(for signal: StopSignal) {
      _ = try? waitUntilReadable([signal.descriptorNumber], until: .never)
    }

    // MARK: The thread

    private func run() {
      // In any case, the pictures must not wait for the sound's part of the pipeline.
      defer { sink.flush() }
      do throws(PublishingError) {
        var output = try SoundOutput(
          session.soundKind(knownAs: .appAudio), gate: SilenceGate(limit: nil), in: session)
        let publisher = try output.publisher(of: session.stream, in: session) { options in
          options.ringDepth = Self.ringDepth
          options.allowsLossless = true
          options.losslessStallBudget = nil
        }
        isPublished.raise()
        try session.drive(publisher) { (publisher) throws(PublishingError) in
          try publishAll(by: &output, with: &publisher)
        }
      } catch {
        refused("\(error)")
      }
    }

    private func publishAll(
      by output: inout SoundOutput, with publisher: inout Publisher
    ) throws(PublishingError) {
      _ = try? waitUntilReadable(
        [hasBegun.descriptorNumber, session.stop.descriptorNumber], until: .never)
      var rechunker = Rechunker()
      while !session.isOver {
        switch next() {
        case .sound(let samples, let ptsNs): rechunker.add(samples, ptsNs: ptsNs)
        case .format(let format): session.noteSoundFormat(format)
        case .nothing: continue
        case .ended: return
        }
        while !session.isOver, let next = rechunker.next() {
          guard waitForPictures(atNs: next.ptsNs) else { return }
          try output.publishRead(
            next.chunk, ptsNs: next.ptsNs, with: &publisher, in: session)
        }
      }
    }

    private func next() -> SoundSink.Item {
      do throws(PipelineError) {
        return try sink.next(until: .after(Self.pollInterval), stop: session.stop)
      } catch {
        refused("\(error)")
        return .ended
      }
    }

    /// - Returns: false if the sound begins after the last picture.
    private func waitForPictures(atNs ptsNs: Int64) -> Bool {
      while !session.isOver {
        // Relaxed: numbers by themselves.
        if ptsNs >= endNs.load(ordering: .relaxed) { return false }
        if ptsNs &- Self.leadNs <= picturesNs.load(ordering: .relaxed) { return true }
        if endNs.load(ordering: .relaxed) != .max { return true }
        guard session.sleep(until: .after(Self.pollInterval)) else { return false }
      }
      return false
    }
  }
#endif
