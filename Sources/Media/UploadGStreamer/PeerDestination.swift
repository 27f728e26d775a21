#if Media
  import FrameBus
  import Platform
  import Sound
  import Upload

  /// A peer on the network that receives a container, and may disconnect and come back. Each
  /// connection has its own `EncodingDestination`, which begins with a key frame and at time 0.
  ///
  /// One or two frames begin a connection. No other frame is accepted before it is established, so
  /// meanwhile newer frames replace older ones on the bus.
  final class PeerDestination: Destination {
    let heldFrames = 2
    let wantsRepeatedFrames = true
    let takesSound = true
    let connects = true
    /// How much may wait for a slow connection. Newer frames replace each other on the bus
    /// meanwhile.
    private static let mostBacklogNs: UInt64 = 1_000_000_000
    /// That of sound alone. Beside pictures all sound is taken, which is never far ahead of them:
    /// without the sound of a picture's time, a muxer would hold the picture back for ever.
    private static let mostSoundBacklogNs: UInt64 = 2_000_000_000
    private static let pollInterval = Duration.milliseconds(5)
    /// Between two looks at the connection.
    private static let lookInterval = Duration.milliseconds(400)

    private let outlet: any Outlet
    private var setup: DestinationSetup
    /// Set if another encoder's units are sent, and not frames.
    private var demand: EncoderDemand?
    private var hasSound = false
    private var hasPictures = false
    private var connection: Connection?
    private var bytesBefore: UInt64 = 0
    /// Packets that earlier connections sent again.
    private var repeatedBefore = 0
    private var newest: SequenceNumber?
    /// Frames of this connection, without repeated ones.
    private var frameCount = 0
    private(set) var lostFrames = 0
    private var retries: RetrySchedule
    /// Whether any connection was established.
    private var hasWorked = false
    /// Why the newest attempt failed.
    private var newestError: DestinationError?

    private struct Connection {
      let destination: EncodingDestination
      /// The timestamp of its first frame.
      let startNs: UInt64
      /// Whether it is reported as established.
      var isReported = false
      var figures = LinkFigures()
      /// Nil without pictures.
      var control: LinkControl?
      var nextLook = Deadline.now
    }

    init(_ outlet: any Outlet, _ setup: DestinationSetup) throws(DestinationError) {
      self.outlet = outlet
      self.setup = setup
      retries = RetrySchedule(
        for: setup.reconnectsFor,
        first: setup.retriesFirst
          ? setup.reconnectsFor : min(outlet.firstRetries, setup.reconnectsFor))
      // Reports wrong settings now instead of at the first connection.
      _ = try EncodingDestination(outlet, setup.encoder)
    }

    var output: String { outlet.output }
    var unconnected: DestinationError? {
      hasWorked ? nil : newestError ?? .notConnected(output: output)
    }
    var byteCount: UInt64 {
      readLink()
      return bytesBefore + bytesTaken
    }

    /// Bytes that this connection's peer has received, or if that is unknown, that were sent. Bytes
    /// queued before it is established do not count.
    private var bytesTaken: UInt64 {
      guard let connection, connection.destination.hasBegun else { return 0 }
      return connection.figures.bytesArrived ?? connection.destination.byteCount
    }

    private func readLink() {
      guard let link = connection?.destination.link else { return }
      connection?.figures.take(link)
    }

    var network: NetworkFigures? {
      readLink()
      guard let connection, connection.figures.bytesArrived != nil else { return nil }
      var network = connection.figures.network
      network.retransmittedPackets += repeatedBefore
      network.targetBitsPerSecond = demand?.bitsPerSecond ?? target(of: connection) ?? 0
      return network
    }

    private func target(of connection: Connection) -> Int? {
      connection.control?.bitsPerSecond ?? connection.destination.targetBitsPerSecond
    }

    /// Lets the bitrate follow what the connection takes.
    private func adapt() {
      guard let connection, connection.destination.hasBegun, connection.nextLook.isPast,
        let requested = demand?.wantedBitsPerSecond ?? connection.destination.targetBitsPerSecond,
        requested > 0
      else { return }
      self.connection?.nextLook = .after(Self.lookInterval)
      guard let link = connection.destination.link else { return }
      self.connection?.figures.take(link)
      var control = connection.control ?? LinkControl(maximum: requested)
      control.limit(to: requested)
      let hasChanged = control.update(
        LinkSample(link, backlogNs: connection.destination.backlogNs))
      self.connection?.control = control
      guard hasChanged else { return }
      if let demand {
        demand.mostBitsPerSecond = control.bitsPerSecond
      } else {
        connection.destination.aim(at: control.bitsPerSecond)
      }
    }

    func expectSound() { hasSound = true }

    func prepare() throws(DestinationError) { try makeDestination().prepare() }

    private func makeDestination() throws(DestinationError) -> EncodingDestination {
      let destination = try EncodingDestination(outlet, setup.encoder)
      if hasSound { destination.expectSound() }
      // A peer takes one format of sound.
      if let demand { destination.share(demand, sound: outlet.soundEncoders[0]) }
      return destination
    }

    // MARK: Frames

    func waitForRoom(
      until deadline: Deadline, stop: StopSignal?
    ) throws(DestinationError) -> Bool {
      guard let connection else { return retries.wait(until: deadline, stop: stop) }
      do throws(DestinationError) {
        let hasRoom = try connection.destination.waitForRoom(until: deadline, stop: stop)
        reportIfLive()
        adapt()
        if hasRoom, connection.destination.hasBegun,
          connection.destination.backlogNs > Self.mostBacklogNs
        {
          sleep(until: min(deadline, .after(Self.pollInterval)))
          return false
        }
        return hasRoom
      } catch {
        try recover(from: error)
        return false
      }
    }

    private func reportIfLive() {
      guard let connection, !connection.isReported, connection.destination.hasBegun else { return }
      self.connection?.isReported = true
      hasWorked = true
      connection.destination.boundQueue()
      setup.onLive()
    }

    func accept(_ frame: HeldFrame, ptsNs: UInt64) throws(DestinationError) {
      hasPictures = true
      if frame.lease.sequence != newest { frameCount += 1 }
      newest = frame.lease.sequence
      try attempt(from: ptsNs) { (destination, ptsNs) throws(DestinationError) in
        try destination.accept(frame, ptsNs: ptsNs)
      }
    }

    func accept(_ sound: SoundChunk, ptsNs: UInt64) throws(DestinationError) {
      try attemptSound(from: ptsNs) { (destination, ptsNs) throws(DestinationError) in
        try destination.accept(sound, ptsNs: ptsNs)
      }
    }

    private func attemptSound(
      from ptsNs: UInt64,
      _ send: (EncodingDestination, UInt64) throws(DestinationError) -> Void
    ) throws(DestinationError) {
      // If there are pictures, a connection begins with one.
      if connection == nil && (hasPictures || !retries.next.isPast) { return }
      if let connection, ptsNs < connection.startNs { return }
      // Without pictures nothing else limits what waits for the connection.
      if !hasPictures, let destination = connection?.destination,
        destination.isConnecting
          || destination.hasBegun && destination.backlogNs > Self.mostSoundBacklogNs
      {
        return
      }
      try attempt(from: ptsNs, send)
    }

    /// Sends over the connection, or begins a new one.
    private func attempt(
      from ptsNs: UInt64,
      _ send: (EncodingDestination, UInt64) throws(DestinationError) -> Void
    ) throws(DestinationError) {
      let connection =
        if let current = self.connection { current } else {
          Connection(destination: try makeDestination(), startNs: ptsNs)
        }
      self.connection = connection
      do throws(DestinationError) {
        try send(connection.destination, ptsNs - connection.startNs)
        reportIfLive()
      } catch {
        try recover(from: error)
      }
    }

    func use(bitsPerSecond: Int?) {
      setup.encoder.bitsPerSecond = bitsPerSecond
      connection?.destination.use(bitsPerSecond: bitsPerSecond)
      // Lowered again at the next look, if the connection takes less.
      connection?.control = nil
    }

    // MARK: The end of a connection

    private func recover(from error: DestinationError) throws(DestinationError) {
      let failure = named(error)
      let hadWorked = connection?.destination.hasDelivered ?? false
      if connection?.destination.hasBegun != true { lostFrames += frameCount }
      frameCount = 0
      abandon()
      guard case .elementFailed = error else { throw failure }
      newestError = failure
      guard let pause = retries.fail(hadWorked: hadWorked) else { throw failure }
      setup.onLoss(hadWorked ? failure.ofConnection : failure, pause)
    }

    /// A failure of the last element is one of the peer.
    private func named(_ error: DestinationError) -> DestinationError {
      let error = redacted(error)
      guard case .elementFailed(let element, let message, let detail) = error,
        element == outlet.elements.last?.factory
      else { return error }
      return .noPeer(output: output, reason: Self.reason(message, detail))
    }

    /// An element's detail says more than its message, unless it is the number of GIO's error.
    private static func reason(_ message: String, _ detail: String) -> String {
      detail.isEmpty || detail.hasPrefix("domain ") ? message : detail
    }

    private func redacted(_ error: DestinationError) -> DestinationError {
      guard case .elementFailed(let element, let message, let detail) = error else { return error }
      return .elementFailed(
        element: element, message: outlet.redacted(message), detail: outlet.redacted(detail))
    }

    func finish() throws(DestinationError) {
      if setup.retriesFirst, connection?.destination.hasBegun == false {
        // The end of a broadcast is clean, although its peer was not reached.
        lostFrames += frameCount
        return abandon()
      }
      readLink()
      do throws(DestinationError) {
        try connection?.destination.finish()
        reportIfLive()
      } catch {
        if case .stalled = error, let unconnected { throw unconnected }
        throw named(error).ofConnection
      }
    }

    func abandon() {
      guard let connection else { return }
      readLink()
      connection.destination.abandon()
      bytesBefore += bytesTaken
      repeatedBefore += self.connection?.figures.network.retransmittedPackets ?? 0
      // A lost connection limits nobody.
      demand?.mostBitsPerSecond = nil
      self.connection = nil
    }
  }

  // MARK: Units of another encoder

  extension PeerDestination: UnitDestination {
    var soundEncoders: [SoundEncoder] { outlet.soundEncoders }
    var needsKeyFrame: Bool { connection == nil }
    var isDelivering: Bool { connection?.destination.hasBegun == true }

    func share(_ demand: EncoderDemand, sound: SoundEncoder) { self.demand = demand }

    func accept(_ unit: KeptUnit, ptsNs: UInt64) throws(DestinationError) {
      func send(_ destination: EncodingDestination, _ ptsNs: UInt64) throws(DestinationError) {
        try destination.accept(unit, ptsNs: ptsNs)
      }
      if unit.isSound { return try attemptSound(from: ptsNs, send) }
      hasPictures = true
      frameCount += 1
      try attempt(from: ptsNs, send)
    }
  }

  extension DestinationError {
    /// The same of a peer that had accepted data.
    fileprivate var ofConnection: DestinationError {
      if case .noPeer(let output, let reason) = self {
        .connectionLost(output: output, reason: reason)
      } else {
        self
      }
    }
  }
#endif
