#if Media
  import Capture
  import FrameBus
  import Platform
  import Sound

  /// Publishes the sound of a device or an application of a PipeWire server, by its node's name.
  /// The node is recorded only while there are subscribers and sound is switched on. One that ends
  /// is waited for.
  public struct PipeWireSoundSource: FrameSource {
    private let name: String
    private let gate: SilenceGate
    private let endsWithServer: Bool

    /// How long the node is recorded after the last subscriber has left.
    private static let lingerNs: UInt64 = 2_000_000_000
    private static let pollInterval = Duration.milliseconds(100)
    private static let retryInterval = Duration.milliseconds(500)
    /// How long the server may take to list its nodes, and the session manager to link one.
    private static let limit = Duration.seconds(10)

    /// - Parameter endsWithServer: whether another server cannot be reached, as in a sandbox, so
    ///   that the capture must be started again.
    public init(_ name: String, gate: SilenceGate = SilenceGate(), endsWithServer: Bool = false) {
      self.name = name
      self.gate = gate
      self.endsWithServer = endsWithServer
    }

    public mutating func run(in session: CaptureSession) throws(PipeWireSoundError) {
      guard try requireNode(in: session) else { return }
      var output: SoundOutput
      let publisher: Publisher
      do throws(PublishingError) {
        output = try SoundOutput(session.soundKind(), gate: gate, in: session)
        publisher = try output.publisher(of: session.stream, in: session)
      } catch { throw .publishing(error) }
      try session.drive(publisher) { (publisher) throws(PipeWireSoundError) in
        var isPaused = false
        while output.waitUntilOn(in: session), session.waitForSubscriber(of: publisher) {
          do throws(PipeWireSoundError) {
            try publish(&output, with: &publisher, &isPaused, in: session)
          } catch {
            guard case .noServer = error, !endsWithServer else { throw error }
            pause(&publisher, &isPaused, "\(error)", in: session)
            guard session.sleep(until: .after(Self.retryInterval)) else { return }
          }
        }
      }
    }

    /// Throws if no node has the name now, which may be a mistake.
    /// - Returns: false if the run is over.
    private func requireNode(in session: CaptureSession) throws(PipeWireSoundError) -> Bool {
      var sound = try PipeWireSound(name)
      let deadline = Deadline.after(Self.limit)
      while !session.isOver {
        switch sound.iterate() {
        case .listing:
          if deadline.isPast { throw .noServer("it does not answer") }
          try wait(for: sound, until: deadline, in: session)
        case .absent: throw .absent(name, others: sound.names)
        case .present, .linked: return true
        case .noServer(let why): throw .noServer(why)
        case .failed(let why): throw .failed(why)
        }
      }
      return false
    }

    private func pause(
      _ publisher: inout Publisher, _ isPaused: inout Bool, _ why: String,
      in session: CaptureSession
    ) {
      if isPaused { return }
      isPaused = true
      publisher.pause(.unavailable)
      session.noticed?("the stream is paused until “\(name)” is back: \(why)")
    }

    /// Records until there are no subscribers, or sound is switched off.
    private func publish(
      _ output: inout SoundOutput, with publisher: inout Publisher, _ isPaused: inout Bool,
      in session: CaptureSession
    ) throws(PipeWireSoundError) {
      var sound = try PipeWireSound(name)
      var rechunker = Rechunker()
      var heardByNs = monotonicNowNs()
      var linkedBy = Deadline.after(Self.limit)
      while !session.isOver, !output.isOff {
        if publisher.subscriberCount > 0 { heardByNs = monotonicNowNs() }
        guard monotonicNowNs() < heardByNs &+ Self.lingerNs else { break }
        session.noteSubscribers(publisher.subscriberCount)
        switch sound.iterate() {
        case .listing, .present: if linkedBy.isPast { throw .notLinked(name) }
        case .absent:
          pause(&publisher, &isPaused, "its node has ended", in: session)
          linkedBy = .after(Self.limit)
        case .linked:
          linkedBy = .after(Self.limit)
          if isPaused {
            publisher.resume()
            session.noticed?("“\(name)” is back")
          }
          isPaused = false
        case .noServer(let why): throw .noServer(why)
        case .failed(let why): throw .failed(why)
        }
        try publishPieces(of: &sound, &rechunker, &output, with: &publisher, in: session)
        try wait(for: sound, until: .after(Self.pollInterval), in: session)
      }
      session.countMissedDeadlines(sound.lostCount)
    }

    private func publishPieces(
      of sound: inout PipeWireSound, _ rechunker: inout Rechunker, _ output: inout SoundOutput,
      with publisher: inout Publisher, in session: CaptureSession
    ) throws(PipeWireSoundError) {
      while let piece = try sound.next() {
        if let format = sound.format48k { session.noteSoundFormat(format) }
        rechunker.add(piece.samples, ptsNs: piece.ptsNs)
        while !session.isOver, let next = rechunker.next() {
          do throws(PublishingError) {
            try output.publish(next.chunk, ptsNs: next.ptsNs, with: &publisher, in: session)
          } catch { throw .publishing(error) }
        }
      }
    }

    private func wait(
      for sound: borrowing PipeWireSound, until deadline: Deadline, in session: CaptureSession
    ) throws(PipeWireSoundError) {
      do throws(SystemError) {
        _ = try firstReadable(
          session.stop.descriptorNumber, sound.descriptorNumber,
          until: min(deadline, session.deadline))
      } catch { throw .system(error) }
    }
  }
#endif
