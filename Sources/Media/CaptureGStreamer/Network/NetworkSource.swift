#if Media
  import CGStreamer
  import Capture
  import FrameBus
  import Platform
  import Sound
  import WHIP

  /// Publishes the pictures and the sound of a stream of another machine.
  ///
  /// It connects once to learn the format, and then while there are subscribers; only an SRT
  /// listener stays open without them. A connection that is lost is made again, with backoff, and
  /// the stream is paused meanwhile. A first connection that fails is an error, which a user can
  /// correct at once.
  public struct NetworkSource: FrameSource {
    private let address: SourceAddress
    private let secret: NetworkSecret?
    private let diagnosis: NetworkDiagnosis
    private let sender = SenderClock()
    private let sound: NetworkSound?
    private let certificates: String?
    private let largest: PixelRect?
    private let hide: @Sendable (String) -> Void
    private var whep: WHEPSession?
    private var backOff = BackOff(longest: .seconds(10))
    private var notice = ""

    /// How long the connection stays without subscribers, and how long it must have worked to count
    /// as one that works: a server may accept every connection and close it.
    private static let idleLimit = Duration.seconds(5)
    private static let provenTime = Duration.seconds(10)
    /// How long the first picture may take.
    private static let firstLimit = Duration.seconds(15)
    /// The first packets of SRT's handshake may be lost.
    private static let firstRetries = Duration.seconds(10)
    private static let pollInterval = Duration.milliseconds(100)

    /// - Parameters:
    ///   - largest: of several renditions, the size of the largest to take; nil for the best.
    ///   - certificates: a file of certificates to trust for HTTPS instead of the system's.
    ///   - sound: nil to leave the sound out.
    ///   - hide: called with secrets that the server names, on any thread, before GStreamer may log
    ///     them.
    public init(
      _ address: SourceAddress, secret: NetworkSecret?, largest: PixelRect? = nil,
      certificates: String? = nil, sound: PipelineSource.SoundPart? = nil,
      hide: @escaping @Sendable (String) -> Void = { _ in }
    ) {
      self.address = address
      self.secret = secret
      self.certificates = certificates
      self.largest = largest
      self.hide = hide
      diagnosis = NetworkDiagnosis(address: address, secret: secret)
      self.sound = sound.map { [sender] in NetworkSound($0, sender) }
    }

    public mutating func run(in session: CaptureSession) throws(PipelineError) {
      defer { sound?.finish(session.finishReason) }
      var connection = try connectFirst(in: session)
      guard let format = connection?.format else { return }
      let publisher = try PipelineRun.publisher(of: format, in: session)
      try session.drive(publisher) { (publisher) throws(PipelineError) in
        while !session.isOver {
          do throws(PipelineError) {
            if connection == nil {
              guard waitForSubscriber(of: publisher, in: session) else { return }
              connection = try connect(in: session, hasWorked: true)
            }
            guard let current = connection.take() else { return }
            if try publish(current, with: &publisher, in: session) { return }
          } catch {
            guard error.isOfNetwork else { throw error }
            publisher.pause(.unavailable)
            guard waitToRetry(after: error, in: session) else { return }
          }
        }
      }
    }

    /// A pipeline whose first format is known.
    private struct Connection: ~Copyable {
      var run: PipelineRun
      let format: FrameFormat
    }

    private mutating func connectFirst(
      in session: CaptureSession
    ) throws(PipelineError) -> Connection? {
      let deadline = Deadline.after(address.scheme == "srt" ? Self.firstRetries : .zero)
      if address.listens { session.noticed?("waits for a sender at \(address.shown)") }
      while true {
        do throws(PipelineError) {
          return try connect(in: session, hasWorked: false)
        } catch {
          let isRepeated = address.listens && error.isOfNetwork && error.mayPass
          guard isRepeated || error.isUnanswered && !deadline.isPast else { throw error }
          guard waitToRetry(after: error, in: session) else { return nil }
        }
      }
    }

    /// - Returns: nil if the session is over.
    private mutating func connect(
      in session: CaptureSession, hasWorked: Bool
    ) throws(PipelineError) -> Connection? {
      if !address.listens, address.web == nil { _ = try diagnosis.resolve(stop: session.stop) }
      var kilobits: UInt32 = 0
      if address.scheme == "hls", let web = address.web {
        kilobits = try HLSRendition.choose(
          from: web, fitting: largest, certificates: certificates, stop: session.stop,
          fault: diagnosis.fault)
      }
      let elements = NetworkElements(
        address, secret, hasSound: sound != nil, kilobits: kilobits)
      let pipeline = try CapturePipeline(
        elements.description, texts: elements.texts, name: address.shown)
      pipeline.prepareForNetwork()
      if address.scheme.hasPrefix("rtsp") { pipeline.linkTracks() }
      try sound?.connect(SoundSink(pipeline, element: "sound", isLive: true))
      let sink = try SlotSink(pipeline, isFile: false, feed: sound)
      sink.useClock()
      var run = PipelineRun(
        sink, name: address.shown, isLive: true, rate: nil, session: session, sound: nil)
      run.sender = sender
      run.liveSound = sound
      run.watch = watch
      do throws(PipelineError) {
        if address.scheme == "whep", let web = address.web {
          whep = try WHEPSession(
            pipeline, at: web, secret, certificates: certificates, hasSound: sound != nil,
            hide: hide, noticed: { session.noticed?($0) })
        }
        try run.start()
        guard let format = try run.firstFormat() else {
          end(&run)
          return nil
        }
        return Connection(run: run, format: format)
      } catch {
        let cause = explained(error, hasWorked: hasWorked, in: session)
        end(&run)
        throw cause
      }
    }

    private func explained(
      _ error: PipelineError, hasWorked: Bool, in session: CaptureSession
    ) -> PipelineError {
      if let reason = whep?.failure { return diagnosis.fault(.endpoint(reason)) }
      return diagnosis.explain(error, hasWorked: hasWorked, stop: session.stop)
    }

    private var watch: OriginWatch {
      // A WebRTC connection makes keys and tries paths first, with timeouts of its own.
      let firstLimit = address.listens ? nil : Self.firstLimit * (address.web == nil ? 1 : 3)
      var watch = OriginWatch(firstLimit: firstLimit)
      watch.idleLimit = address.listens ? nil : Self.idleLimit
      // Only a playlist says that the stream has ended.
      watch.ended = address.scheme == "hls" ? nil : diagnosis.fault(.lost)
      watch.silent = diagnosis.fault(.silent)
      return watch
    }

    private mutating func end(_ run: inout PipelineRun) {
      whep?.end()
      run.stop()
      whep = nil
      sound?.disconnect()
    }

    /// Publishes until the connection is lost, or has no subscribers.
    /// - Returns: whether the stream has ended.
    private mutating func publish(
      _ connection: consuming Connection, with publisher: inout Publisher,
      in session: CaptureSession
    ) throws(PipelineError) -> Bool {
      var run = connection.run
      let proven = Deadline.after(Self.provenTime)
      // The pipeline's threads end and their loans return before the publisher is used again.
      defer {
        end(&run)
        if proven.isPast { backOff.reset() }
      }
      do { try publisher.setFormat(connection.format) } catch {
        throw .publishing(.publisher(error))
      }
      publisher.resume()
      if !notice.isEmpty { session.noticed?("\(address.shown) is back") }
      notice = ""
      do throws(PipelineError) {
        try run.publishAll(with: &publisher)
      } catch {
        throw explained(error, hasWorked: true, in: session)
      }
      return run.hasEnded
    }

    /// Waits for a subscriber of the pictures or of the sound.
    private func waitForSubscriber(
      of publisher: borrowing Publisher, in session: CaptureSession
    ) -> Bool {
      session.noteSubscribers(0)
      while !session.isOver {
        if address.listens || (sound?.subscriberCount ?? 0) > 0 { return true }
        // Without sound, one wait would do: a subscriber of sound wakes nobody.
        if publisher.waitForSubscriber(
          until: min(session.deadline, .after(Self.pollInterval)), stop: session.stop)
        {
          return true
        }
      }
      return false
    }

    /// - Returns: false if the session is over.
    private mutating func waitToRetry(
      after error: PipelineError, in session: CaptureSession
    ) -> Bool {
      sound?.pause()
      // One that stays is not repeated.
      if "\(error)" != notice {
        notice = "\(error)"
        session.noticed?("the stream is paused until \(address.shown) is back: \(error)")
      }
      return session.sleep(until: .after(backOff.next()))
    }
  }

  extension PipelineError {
    /// Whether another machine is the cause, so that a later connection may work.
    fileprivate var isOfNetwork: Bool {
      switch self {
      case .network, .resource, .failed, .damaged, .endedSilently, .notMedia, .noVideo,
        .unsupportedFormat, .missingDecoder:
        true
      default: false
      }
    }

    fileprivate var isUnanswered: Bool {
      if case .network(let fault) = self { fault.cause == .noAnswer } else { false }
    }
  }
#endif
