#if Media
  import FrameBus
  import Platform
  import Sound
  import Upload
  import WHIP

  /// Sends a stream live by WHIP, as one track of video and, on request, one of sound, or as one of
  /// sound alone. The first frame sets the picture size, as in a file; later frames are scaled to
  /// fit.
  ///
  /// A frame is accepted only while there is room for it. Without a connection, newer frames
  /// replace older ones on the bus, and nothing is encoded.
  public final class WHIPDestination: Destination {
    /// Chunks of silence that make one packet of sound. The offer waits until every track has one.
    private static let preludeChunks: UInt64 = 4
    /// How much encoded media may wait for the connection's pace.
    private static let mostBacklogNs: UInt64 = 500_000_000

    public let heldFrames = 2
    public let wantsRepeatedFrames = true
    public let takesSound = true
    public let connects = true
    private var endpoint: WHIPEndpoint
    private let client: CurlClient
    private var format: WHIPFormat
    private var encoder: any LiveEncoder { format.encoder }
    private var settings: EncoderSettings
    private let options: WHIPOptions
    /// Set if another encoder's units are sent, and not frames.
    private var demand: EncoderDemand?
    private var hasSound = false
    private var hasPictures = false
    private var attempt: Attempt?
    private var bytesBefore: UInt64 = 0
    /// The newest frame that was dropped because the endpoint refuses video.
    private var refused: SequenceNumber?
    public private(set) var lostFrames = 0
    private var lastNetwork: NetworkFigures?
    /// Packets that earlier connections sent again.
    private var repeatedBefore = 0
    private var retries: RetrySchedule
    /// Whether any attempt was connected.
    private var hasWorked = false
    /// Why the newest attempt failed.
    private var newestError: WHIPError?
    /// Whether any attempt was made.
    private var hasBegun = false
    /// The endpoint before a move, until the new one has worked.
    private var former: Former?

    private struct Former {
      let endpoint: WHIPEndpoint
      let hasWorked: Bool
    }

    /// A pipeline, and its connection to the endpoint.
    private struct Attempt {
      let pipeline: Pipeline
      let peer: WebRTCPeer
      let connection: WHIPConnection
      /// Nil for sound alone.
      var picture: LivePicture?
      /// The timestamp of the first frame or chunk, at which the pipeline's own time begins.
      let startNs: UInt64
      /// Whether the track of sound has its format, without which there is no offer.
      var hasSoundUnit = false
      /// What the connection takes of a shared encoder's pictures.
      var budget = UnitBudget()
      /// The bitrate that was wanted of a shared encoder.
      var wantedBitsPerSecond = 0

      func push(_ sound: SoundChunk, ptsNs: UInt64) throws(DestinationError) {
        if picture == nil { return try pipeline.push(sound, ptsNs: ptsNs) }
        peer.push(sound, ptsNs: ptsNs)
      }

      /// The first frame starts the attempt, since it sets the size; the others need a connection.
      func hasRoom(below limit: Int) -> Bool {
        connection.state == .connected && pipeline.state.framesHeld < limit
      }
    }

    public init(
      address: String, encoder: EncoderSettings, options: WHIPOptions
    ) throws(DestinationError) {
      settings = encoder
      self.options = options
      retries = RetrySchedule(for: options.reconnectsFor, first: options.reconnectsFor)
      do throws(WHIPError) {
        endpoint = try WHIPEndpoint(
          address, bearer: options.bearer, allowsPlainHTTP: options.allowsPlainHTTP,
          staysAtOrigin: options.staysAtOrigin)
        client = try Self.makeClient(options)
      } catch {
        throw .upload(error)
      }
      format = try WHIPFormat(encoder, options)
    }

    /// Without a query, which may hold a key.
    public var output: String { "whip:\(endpoint.address)" }

    static func maker(_ options: WHIPOptions) -> DestinationMaker {
      DestinationMaker([.whip]) { named, setup throws(DestinationError) in
        try WHIPDestination(address: named.address, encoder: setup.encoder, options: options)
      }
    }

    private static func makeClient(_ options: WHIPOptions) throws(WHIPError) -> CurlClient {
      do throws(HTTPError) {
        return try CurlClient(certificates: options.certificates, listener: options.listener)
      } catch {
        throw .engineFailed("\(error)")
      }
    }

    public var byteCount: UInt64 { bytesBefore + (attempt?.pipeline.bytesWritten ?? 0) }

    /// That of the present connection, or the last one; packets are counted over all of them.
    public var network: NetworkFigures? {
      attempt.flatMap { $0.connection.hasConnected ? figures($0.connection.bitrate) : nil }
        ?? lastNetwork
    }

    private func figures(_ bitrate: BitrateControl) -> NetworkFigures {
      var figures = NetworkFigures()
      figures.targetBitsPerSecond = bitrate.bitsPerSecond
      figures.roundTripNs = bitrate.roundTripNs
      figures.lostShare = bitrate.lostShare
      figures.retransmittedPackets = repeatedBefore + bitrate.repeatedPackets
      return figures
    }

    public func expectSound() { hasSound = true }

    public func prepare() throws(DestinationError) {
      try GStreamerRuntime.start()
      try format.choose(settings)
      try GStreamerRuntime.require(
        [.source, .transport] + (hasSound ? ElementDescription.sound : [])
          + chain(width: 0, height: 0, rate: .variable)
          + (demand == nil ? [] : [.sharedParser]))
    }

    public var unconnected: DestinationError? {
      if hasWorked || attempt?.connection.hasConnected == true { return nil }
      return newestError.map(DestinationError.upload) ?? .notConnected(output: output)
    }

    public var refusesPictures: Bool { attempt.map { !$0.connection.takes(.video) } ?? false }

    // MARK: Frames

    public func waitForRoom(
      until deadline: Deadline, stop: StopSignal?
    ) throws(DestinationError) -> Bool {
      guard let attempt else { return retries.wait(until: deadline, stop: stop) }
      let connection = attempt.connection
      if demand != nil, hasSound, hasPictures, !attempt.hasSoundUnit, !connection.state.isEnded {
        return true
      }
      let hasRoom = attempt.pipeline.state.wait(until: deadline, stop: stop) { _ in
        attempt.hasRoom(below: heldFrames) || connection.state.isEnded
      }
      guard try isWorking(attempt), hasRoom else { return false }
      // Nothing counts the units that wait for the connection's pace.
      guard demand != nil,
        attempt.pipeline.backlogNs > Self.mostBacklogNs
          || connection.bitrate.pausedUntilNs > monotonicNowNs()
      else { return true }
      sleep(until: min(deadline, .after(.milliseconds(5))))
      return false
    }

    /// Handles the end of an attempt.
    private func isWorking(_ attempt: Attempt) throws(DestinationError) -> Bool {
      if case .ended(let error) = attempt.connection.state {
        try recover(from: error)
        return false
      }
      if let failure = attempt.pipeline.state.failure {
        try recover(from: .engineFailed(failure.message))
        return false
      }
      return true
    }

    public func accept(_ frame: HeldFrame, ptsNs: UInt64) throws(DestinationError) {
      hasPictures = true
      // The operator ?? would lose the type of the error.
      let attempt =
        if let started = self.attempt { started } else { try start(frame.lease, ptsNs) }
      guard attempt.connection.takes(.video) else {
        if changeFormat(after: .nothingAccepted(endpoint.address)) { return }
        return lose(frame)
      }
      guard var picture = attempt.picture else { throw .noPictures(output: output) }
      if frame.lease.format != picture.format {
        picture.format = frame.lease.format
        picture.geometry = try FrameGeometry(
          evenPartOf: frame.lease.format, within: encoder.limits)
        try attempt.pipeline.setCaps(picture.caps)
      }
      try picture.follow(
        attempt.connection.bitrate, attempt.pipeline, formatName: encoder.inputFormatName)
      if picture.follow(
        frame.lease.metadata.orientation, ptsNs: ptsNs, attempt.pipeline, encoder)
      {
        attempt.connection.limit(bitsPerSecond: bitrate(picture).maximum)
      }
      let isSkipped = picture.skips(ptsNs: ptsNs)
      self.attempt?.picture = picture
      if isSkipped || attempt.connection.bitrate.pausedUntilNs > monotonicNowNs() {
        return lose(frame)
      }
      try attempt.pipeline.push(
        frame, geometry: picture.geometry, ptsNs: ptsNs - attempt.startNs,
        durationNs: picture.format.assumedFrameNs)
    }

    /// Drops a frame: at a lower frame rate, while a queue on the way drains, or because webrtcbin
    /// 1.22 would send media that the answer refuses.
    private func lose(_ frame: HeldFrame) {
      if frame.lease.sequence != refused { lostFrames += 1 }
      refused = frame.lease.sequence
    }

    public func accept(_ sound: SoundChunk, ptsNs: UInt64) throws(DestinationError) {
      // If there are pictures, an attempt begins and ends with them.
      if !hasPictures {
        if let attempt { guard try isWorking(attempt) else { return } }
        if attempt == nil, retries.next.isPast { try startSoundAlone(ptsNs) }
      }
      // Without a connection, sound is dropped.
      guard let attempt, attempt.connection.state == .connected, attempt.connection.takes(.audio),
        ptsNs >= attempt.startNs + Self.preludeChunks * SoundChunk.durationNs
      else { return }
      try attempt.push(sound, ptsNs: ptsNs - attempt.startNs)
    }

    private func start(
      _ frame: borrowing FrameLease, _ ptsNs: UInt64
    ) throws(DestinationError) -> Attempt {
      let format = frame.format
      let geometry = try FrameGeometry(evenPartOf: format, within: encoder.limits)
      let size = geometry.upright(frame.metadata.orientation)
      let chain = chain(width: size.width, height: size.height, rate: format.plannedRate)
      let pipeline = try Pipeline(chain + [transport], output: output)
      try pipeline.setCaps(geometry.caps(rate: format.plannedRate))
      return try start(
        pipeline, LivePicture(format: format, geometry: geometry, size: size), ptsNs)
    }

    /// Sound takes the place of the pictures in the pipeline.
    private func startSoundAlone(_ ptsNs: UInt64) throws(DestinationError) {
      let pipeline = try Pipeline(ElementDescription.sound + [transport], output: output)
      try pipeline.setSoundCaps()
      _ = try start(pipeline, nil, ptsNs)
    }

    @discardableResult
    private func start(
      _ pipeline: Pipeline, _ picture: LivePicture?, _ ptsNs: UInt64
    ) throws(DestinationError) -> Attempt {
      let state = pipeline.state
      let report = options.report
      let peer: WebRTCPeer
      let connection: WHIPConnection
      do {
        peer = try WebRTCPeer(
          pipeline, encoder: encoder, demand: demand, certificates: options.certificates)
        if hasSound, picture != nil || demand != nil && hasPictures { try peer.addSound() }
        connection = try WHIPConnection(
          peer, to: endpoint, client: client, servers: options.servers,
          bitrate: bitrate(picture), timeouts: options.timeouts
        ) { event in
          report(.connection(event))
          state.touch()
        }
      } catch let error as WHIPError {
        throw .upload(error)
      } catch {
        throw .upload(.engineFailed("\(error)"))
      }
      let attempt = Attempt(
        pipeline: pipeline, peer: peer, connection: connection, picture: picture,
        startNs: ptsNs)
      // Set before it plays, so that `abandon` ends it if that fails.
      self.attempt = attempt
      hasBegun = true
      try pipeline.play()
      if hasSound, demand == nil {
        for index in 0..<Self.preludeChunks {
          try attempt.push(.silence, ptsNs: index * SoundChunk.durationNs)
        }
      }
      return attempt
    }

    /// That of the pictures; the sound's is fixed.
    private func bitrate(_ picture: LivePicture?) -> BitrateControl {
      let (width, height) = (picture?.geometry.width ?? 0, picture?.geometry.height ?? 0)
      let own = settings.bitsPerSecond(width: width, height: height)
      return BitrateControl(
        minimum: options.leastBitsPerSecond, maximum: demand?.wantedBitsPerSecond ?? own)
    }

    private var transport: ElementDescription {
      var transport = ElementDescription.transport
      if options.usesRelaysOnly {
        transport.properties.append(.init("ice-transport-policy", "relay"))
      }
      return transport
    }

    /// The elements between appsrc and webrtcbin.
    private func chain(width: Int, height: Int, rate: FrameRate) -> [ElementDescription] {
      ElementDescription.scaled(to: encoder.inputFormatName, width: width, height: height)
        + encoder.elements(width: width, height: height, rate: rate)
    }

    // MARK: The end of an attempt

    /// Ends an attempt whose format the endpoint refuses, if there is another to offer at once.
    private func changeFormat(after error: WHIPError) -> Bool {
      guard demand == nil, let attempt, attempt.picture != nil,
        let report = format.change(
          after: error, takesSound: !attempt.connection.takes(.video), settings)
      else { return false }
      options.report(report)
      close()
      return true
    }

    /// Schedules the next attempt if that may help.
    private func recover(from error: WHIPError) throws(DestinationError) {
      let hadWorked = attempt?.connection.hasConnected ?? false
      if hadWorked { format.accepted() }
      if changeFormat(after: error) { return }
      if demand != nil, !hasWorked, error.refusesCodec {
        throw .upload(.sharedCodecRefused(endpoint.address))
      }
      let error = format.cause(of: error)
      newestError = error
      if hadWorked { (hasWorked, former) = (true, nil) }
      close()
      if let former {
        use(former.endpoint, hasWorked: former.hasWorked)
        self.former = nil
        return options.report(.notMoved(error))
      }
      guard hasWorked ? error.isTransient : error.isTemporary,
        let pause = retries.fail(hadWorked: hadWorked, asking: error.retryAfter)
      else { throw .upload(error) }
      options.report(.reconnecting(error, after: pause))
    }

    public func use(bitsPerSecond: Int?) {
      settings.bitsPerSecond = bitsPerSecond
      // For the next attempt. Only its bitrate is new, so it cannot fail.
      try? format.choose(settings)
      guard let attempt else { return }
      attempt.connection.limit(bitsPerSecond: bitrate(attempt.picture).maximum)
    }

    /// Only within the server (scheme, host, port) that it was made for: any member can write the
    /// setting that names another, which would learn the token and see the pictures. If the new
    /// address does not work, the upload returns to the former one; not to the address of the
    /// start before any attempt, from which an earlier process of the upload may have been moved.
    public func move(to address: String) throws(DestinationError) -> Bool {
      let next: WHIPEndpoint
      do throws(WHIPError) {
        next = try WHIPEndpoint(
          address, bearer: options.bearer, allowsPlainHTTP: options.allowsPlainHTTP,
          staysAtOrigin: true)
        guard next.address.hasSameOrigin(as: endpoint.address) else {
          throw .otherServer(next.address, agreed: endpoint.address.origin)
        }
      } catch {
        throw .upload(error)
      }
      if next.address == endpoint.address { return false }
      let worked = hasWorked || attempt?.connection.hasConnected == true
      if worked || hasBegun && former == nil {
        former = Former(endpoint: endpoint, hasWorked: worked)
      }
      close()
      use(next, hasWorked: false)
      return true
    }

    private func use(_ endpoint: WHIPEndpoint, hasWorked: Bool) {
      self.endpoint = endpoint
      self.hasWorked = hasWorked
      format.reset(options)
      retries = RetrySchedule(for: options.reconnectsFor, first: options.reconnectsFor)
    }

    public func finish() throws(DestinationError) { close() }

    public func abandon() { close() }

    private func close() {
      guard let attempt else { return }
      if attempt.connection.hasConnected { hasWorked = true }
      lastNetwork = network
      repeatedBefore = lastNetwork?.retransmittedPackets ?? 0
      attempt.connection.end()
      attempt.pipeline.stop()
      // A lost connection limits nobody.
      demand?.mostBitsPerSecond = nil
      bytesBefore += attempt.pipeline.bytesWritten
      self.attempt = nil
    }
  }

  // MARK: Units of another encoder

  extension WHIPDestination: UnitDestination {
    var soundEncoders: [SoundEncoder] { [.opus] }
    var soundMayOvertake: Bool { true }
    var needsKeyFrame: Bool { attempt == nil }
    var isDelivering: Bool { attempt?.connection.state == .connected }

    func share(_ demand: EncoderDemand, sound: SoundEncoder) {
      self.demand = demand
      format.leaveLayers()
    }

    func accept(_ unit: KeptUnit, ptsNs: UInt64) throws(DestinationError) {
      if !unit.isSound { hasPictures = true }
      if attempt == nil {
        guard !unit.isSound || !hasPictures else { return }
        try start(unit, ptsNs)
      }
      followWantedBitrate()
      guard let attempt, ptsNs >= attempt.startNs else { return }
      if unit.isSound, hasPictures {
        // The first packet may wait for the connection, as the first picture does.
        guard attempt.connection.takes(.audio),
          !attempt.hasSoundUnit || attempt.connection.state == .connected
        else { return }
        self.attempt?.hasSoundUnit = true
        return attempt.peer.push(unit, ptsNs: ptsNs - attempt.startNs)
      }
      guard attempt.connection.takes(unit.isSound ? .audio : .video) else {
        if unit.isSound { return }
        guard hasWorked else { throw .upload(.sharedCodecRefused(endpoint.address)) }
        // Such as a server that has just been started again.
        return try recover(from: .nothingAccepted(endpoint.address))
      }
      if !unit.isSound, let demand,
        self.attempt?.budget.takes(
          unit, at: attempt.connection.bitrate, aim: demand.bitsPerSecond) == false
      {
        return lostFrames += 1
      }
      try attempt.pipeline.push(unit, ptsNs: ptsNs - attempt.startNs)
    }

    private func followWantedBitrate() {
      guard let wanted = demand?.wantedBitsPerSecond, wanted != attempt?.wantedBitsPerSecond
      else { return }
      attempt?.wantedBitsPerSecond = wanted
      attempt?.connection.limit(bitsPerSecond: wanted)
    }

    /// The packers are the same; only what precedes them is elsewhere.
    private func start(_ unit: KeptUnit, _ ptsNs: UInt64) throws(DestinationError) {
      let packing =
        unit.isSound
        ? ElementDescription.soundPacking : ElementDescription.sharedUnits + encoder.packing
      let pipeline = try Pipeline(packing + [transport], output: output, takesUnits: true)
      if let demand { pipeline.forwardKeyRequests(to: demand) }
      try start(pipeline, nil, ptsNs)
    }
  }

  extension DestinationError {
    fileprivate static func upload(_ error: WHIPError) -> DestinationError {
      var status: Int?
      if case .refused(let refusal) = error { status = refusal.status }
      return .peer(reason: "\(error)", isMisuse: error.isMisuse, status: status)
    }
  }

  extension WHIPConnection.State {
    fileprivate var isEnded: Bool { if case .ended = self { true } else { false } }
  }
#endif
