#if Media
  import Capture
  import FrameBus
  import Platform
  import Sound

  /// Publishes the output or a source of a PulseAudio server, or of PipeWire in its place.
  ///
  /// The device is open only while there are subscribers and sound is switched on. The device's
  /// thread passes sound on without blocking; conversion, silence and publishing happen here.
  public struct PulseSource: FrameSource {
    /// How long the device stays open after the last subscriber has left.
    private static let lingerNs: UInt64 = 2_000_000_000
    private static let pollInterval = Duration.milliseconds(100)

    private let device: SoundDevice
    private let gate: SilenceGate

    public init(_ device: SoundDevice, gate: SilenceGate = SilenceGate()) {
      self.device = device
      self.gate = gate
    }

    public mutating func run(in session: CaptureSession) throws(PipelineError) {
      var output: SoundOutput
      let publisher: Publisher
      do throws(PublishingError) {
        let kind = session.soundKind(knownAs: device == .microphone ? .micAudio : nil)
        output = try SoundOutput(kind, gate: gate, in: session)
        publisher = try output.publisher(of: session.stream, in: session)
      } catch {
        throw .publishing(error)
      }
      try session.drive(publisher) { (publisher) throws(PipelineError) in
        while output.waitUntilOn(in: session) {
          guard session.waitForSubscriber(of: publisher) else { return }
          try publish(&output, with: &publisher, in: session)
        }
      }
    }

    /// Opens the device until there are no subscribers, or sound is switched off.
    private mutating func publish(
      _ output: inout SoundOutput, with publisher: inout Publisher, in session: CaptureSession
    ) throws(PipelineError) {
      let pipeline = try CapturePipeline(
        "pulsesrc name=source provide-clock=false latency-time=10000 buffer-time=60000 ! "
          + SoundFormat.caps + " ! fakesink name=sink sync=false async=false",
        texts: [("source", "device", serverName)], name: "pulse:\(deviceName)")
      var sink = try SoundSink(pipeline, element: "sink", isLive: true)
      try sink.play()
      var rechunker = Rechunker()
      var mute = MuteWatch(serverName)
      var heardByNs = monotonicNowNs()
      while !session.isOver, !output.isOff {
        if publisher.subscriberCount > 0 { heardByNs = monotonicNowNs() }
        guard monotonicNowNs() < heardByNs &+ Self.lingerNs else { break }
        session.noteSubscribers(publisher.subscriberCount)
        let deadline = min(session.deadline, .after(Self.pollInterval))
        switch try sink.next(until: deadline, stop: session.stop) {
        case .format(let format): session.noteSoundFormat(format)
        case .sound(let samples, let ptsNs): rechunker.add(samples, ptsNs: ptsNs)
        case .ended: throw .endedSilently(name: "pulse:\(deviceName)")
        case .nothing: continue
        }
        while !session.isOver, let next = rechunker.next() {
          if !next.chunk.isSilent { mute.noteSound() }
          do throws(PublishingError) {
            try output.publish(next.chunk, ptsNs: next.ptsNs, with: &publisher, in: session)
          } catch {
            throw .publishing(error)
          }
        }
        if let muted = mute.poll() { session.noteSoundMute(muted) }
      }
      session.countMissedDeadlines(sink.lostCount)
    }

    private var deviceName: String {
      switch device {
      case .monitor: "monitor"
      case .microphone: "mic"
      case .named(let name): name
      }
    }

    /// The server's name for the device.
    private var serverName: String {
      switch device {
      case .monitor: "@DEFAULT_MONITOR@"
      case .microphone: "@DEFAULT_SOURCE@"
      case .named(let name): name
      }
    }
  }
#endif
