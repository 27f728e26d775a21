#if Media
  import CGStreamer
  import FrameBus
  import Platform
  import Sound
  import Upload

  /// Encodes a stream into a container. The first frame sets the picture size; frames of another
  /// size are scaled to fit, with black borders, because few players support a change of size
  /// within a file. An output of several parts begins the next one instead.
  public final class EncodingDestination: Destination {
    /// Two frames: one that the converter reads, and the next.
    public let heldFrames = 2
    public let wantsRepeatedFrames = true
    public let takesSound = true

    private let outlet: any Outlet
    private var settings: EncoderSettings
    private var encoder: any VideoEncoder
    private var isSoundExpected = false
    /// Set if another encoder's units are recorded, and not frames.
    private var demand: EncoderDemand?
    private var soundEncoder: SoundEncoder
    /// How much of those may wait for the output.
    private static let mostBacklogNs: UInt64 = 1_000_000_000
    private static let pollInterval = Duration.milliseconds(5)
    private var recording: Recording?
    /// Of the parts before this one.
    private var bytesBefore: UInt64 = 0
    private var captureClock = CaptureClock()

    /// A started output.
    private struct Recording {
      var pipeline: Pipeline
      /// Nil for sound alone.
      var picture: Picture?
    }

    private struct Picture {
      var rate: FrameRate
      var format: FrameFormat
      var geometry: FrameGeometry
      /// The size of the output.
      let uprightSize: PixelRect
      /// The size of a second rendition.
      let smallSize: PixelRect?
    }

    init(_ outlet: any Outlet, _ encoder: EncoderSettings) throws(DestinationError) {
      self.outlet = outlet
      settings = encoder
      soundEncoder = outlet.soundEncoders[0]
      self.encoder = try VideoEncoders.make(encoder, codecs: outlet.codecs)
    }

    public var output: String { outlet.output }
    public var byteCount: UInt64 { bytesBefore + (recording?.pipeline.bytesWritten ?? 0) }

    /// Whether the output has accepted any data. For a peer, this means that it is connected.
    var hasBegun: Bool { recording?.pipeline.state.firstBuffer == .taken }

    /// Whether the output waits with its first data: a peer that is not connected yet.
    var isConnecting: Bool {
      guard let state = recording?.pipeline.state else { return false }
      return state.firstBuffer == .offered && state.failure == nil
    }

    /// How much media waits for the output.
    var backlogNs: UInt64 { recording?.pipeline.backlogNs ?? 0 }

    /// The connection of an output that has begun; nil if it is unknown.
    var link: upload_link? { hasBegun ? recording?.pipeline.link : nil }

    /// Limits what waits in the kernel for a slow connection.
    func boundQueue() { recording?.pipeline.boundQueue() }

    /// The bitrate of the pictures; nil without pictures.
    var targetBitsPerSecond: Int? {
      recording?.picture.map {
        settings.bitsPerSecond(width: $0.uprightSize.width, height: $0.uprightSize.height)
      }
    }

    /// Whether the output has accepted more than the headers. For a peer, this means that it
    /// accepts media.
    var hasDelivered: Bool { (recording?.pipeline.buffersWritten ?? 0) > 8 }

    /// The address of the newest frame when it entered GStreamer; 0 before the first.
    package var entryAddress: UInt { recording?.pipeline.entryAddress ?? 0 }

    public func expectSound() { isSoundExpected = true }

    public func prepare() throws(DestinationError) {
      try GStreamerRuntime.start()
      encoder = try VideoEncoders.make(settings, codecs: outlet.codecs)
      try GStreamerRuntime.require(
        [.source] + chain(width: 0, height: 0, rate: .variable)
          + (demand == nil ? [] : [.sharedParser])
          + (isSoundExpected && demand == nil ? soundEncoder.elements : []))
      try outlet.prepare()
    }

    public func waitForRoom(
      until deadline: Deadline, stop: StopSignal?
    ) throws(DestinationError) -> Bool {
      if demand != nil { return try waitForRoomForUnits(until: deadline) }
      guard let recording, recording.picture != nil else { return true }
      return try recording.pipeline.waitForRoom(below: heldFrames, until: deadline, stop: stop)
    }

    public func accept(_ frame: HeldFrame, ptsNs: UInt64) throws(DestinationError) {
      try endPartIfSizeChanges(frame.lease)
      // The operator ?? would lose the type of the error.
      let recording =
        if let started = self.recording { started } else {
          try start(frame.lease)
        }
      guard var picture = recording.picture else { throw .noPictures(output: output) }
      if frame.lease.format != picture.format {
        picture.format = frame.lease.format
        picture.geometry = try ending { () throws(DestinationError) in
          try FrameGeometry(evenPartOf: frame.lease.format, within: encoder.limits)
        }
        try recording.pipeline.setCaps(picture.geometry.caps(rate: picture.rate))
        self.recording?.picture = picture
      }
      captureClock.note(frame.lease.metadata.capturedAtNs, ptsNs: ptsNs)
      outlet.place(ptsNs: ptsNs, wallNs: ptsNs &+ captureClock.wallOffsetNs)
      let shownNs = frame.lease.metadata.durationNs
      try recording.pipeline.push(
        frame, geometry: picture.geometry, ptsNs: ptsNs,
        durationNs: shownNs > 0 ? shownNs : picture.format.assumedFrameNs)
      // Checked while there is still space to end the file.
      try ending { () throws(DestinationError) in try outlet.check() }
    }

    private func endPartIfSizeChanges(_ frame: borrowing FrameLease) throws(DestinationError) {
      guard type(of: outlet).changesSize, let recording, let picture = recording.picture,
        frame.format != picture.format,
        let next = try? FrameGeometry(evenPartOf: frame.format, within: encoder.limits),
        next.upright(frame.metadata.orientation) != picture.uprightSize
      else { return }
      try recording.pipeline.finish()
      bytesBefore += recording.pipeline.bytesWritten
      self.recording = nil
    }

    /// Runs `body`, and finishes the output if it throws.
    private func ending<Value>(
      _ body: () throws(DestinationError) -> Value
    ) throws(DestinationError) -> Value {
      do throws(DestinationError) { return try body() } catch {
        try finish()
        throw error
      }
    }

    public func accept(_ sound: SoundChunk, ptsNs: UInt64) throws(DestinationError) {
      let recording =
        if let started = self.recording { started } else {
          try startSoundAlone()
        }
      let delayNs = soundEncoder.unreportedDelayNs
      if ptsNs >= delayNs { try recording.pipeline.push(sound, ptsNs: ptsNs - delayNs) }
    }

    private func start(_ frame: borrowing FrameLease) throws(DestinationError) -> Recording {
      let format = frame.format
      let geometry = try FrameGeometry(evenPartOf: format, within: encoder.limits)
      let size = geometry.upright(frame.metadata.orientation)
      let small = try outlet.smallSize(beside: size)
      let chain = chain(
        width: size.width, height: size.height, rate: format.plannedRate, isForked: small != nil)
      let sound = isSoundExpected ? soundEncoder.elements + [.waitForOtherTrack] : []
      let pipeline = try Pipeline(
        chain, fork: fork(small, of: size, rate: format.plannedRate), sound: sound, output: output)
      try pipeline.setCaps(geometry.caps(rate: format.plannedRate))
      return try start(
        Recording(
          pipeline: pipeline,
          picture: Picture(
            rate: format.plannedRate, format: format, geometry: geometry, uprightSize: size,
            smallSize: small)))
    }

    private func startSoundAlone() throws(DestinationError) -> Recording {
      let chain = soundEncoder.elements + outlet.elementsForSoundAlone
      let pipeline = try Pipeline(chain, output: output)
      try pipeline.setSoundCaps()
      return try start(Recording(pipeline: pipeline))
    }

    @discardableResult
    private func start(
      _ recording: Recording, ofUnits hasUnits: Bool = false
    ) throws(DestinationError) -> Recording {
      // Set before the start, so that `abandon` cleans up after a failed start.
      self.recording = recording
      try outlet.open()
      if hasUnits {
        try outlet.connectUnits(recording.pipeline)
      } else {
        try outlet.connect(recording.pipeline, encoder: recording.picture == nil ? nil : encoder)
      }
      try recording.pipeline.play()
      return recording
    }

    /// All elements after appsrc.
    private func chain(
      width: Int, height: Int, rate: FrameRate, isForked: Bool = false
    ) -> [ElementDescription] {
      ElementDescription.scaled(to: encoder.inputFormatName, width: width, height: height)
        + (isForked ? [.fork] : []) + encoder.elements(width: width, height: height, rate: rate)
        + (isSoundExpected ? [.waitForOtherTrack] : [])
        + outlet.elements.map { $0.parsing(encoder.codec) }
    }

    /// The elements of a second rendition, from the fork to the muxer.
    private func fork(
      _ small: PixelRect?, of size: PixelRect, rate: FrameRate
    ) throws(DestinationError) -> [ElementDescription] {
      guard let small else { return [] }
      let encoder = try VideoEncoders.make(
        settings.reduced(from: size, to: small), codecs: [encoder.codec])
      return ElementDescription.reduced(
        to: encoder.inputFormatName, width: small.width, height: small.height)
        + encoder.elements(width: small.width, height: small.height, rate: rate)
        + outlet.elements.prefix { $0.soundPad == nil }.map { $0.parsing(encoder.codec) }
        + (isSoundExpected ? [.waitForOtherTrack] : [])
    }

    public func use(bitsPerSecond: Int?) {
      settings.bitsPerSecond = bitsPerSecond
      // For a pipeline that has not started. Only its bitrate is new, so it cannot fail.
      if let changed = try? VideoEncoders.make(settings, codecs: [encoder.codec]) {
        encoder = changed
      }
      guard let recording, let geometry = recording.picture?.geometry else { return }
      let rate = settings.bitsPerSecond(width: geometry.width, height: geometry.height)
      recording.pipeline.set(encoder.bitrate(rate), of: encoder.factory)
      if let picture = recording.picture, let small = picture.smallSize {
        let rate = settings.reduced(from: picture.uprightSize, to: small)
          .bitsPerSecond(width: small.width, height: small.height)
        recording.pipeline.set(encoder.bitrate(rate), of: encoder.factory, inFork: true)
      }
    }

    /// Lowers the bitrate for a slow connection, or raises it again.
    func aim(at bitsPerSecond: Int) {
      recording?.pipeline.set(encoder.bitrate(bitsPerSecond), of: encoder.factory)
    }

    public func finish() throws(DestinationError) {
      guard let recording else { return }
      try recording.pipeline.finish()
      try outlet.close()
    }

    public func abandon() {
      guard let recording else { return }
      recording.pipeline.stop()
      if byteCount == 0 { outlet.removeEmpty() }
    }
  }

  // MARK: Units of another encoder

  extension EncodingDestination: UnitDestination {
    var soundEncoders: [SoundEncoder] { outlet.soundEncoders }
    var needsOwnEncoder: Bool { outlet.needsOwnEncoder }
    var keyFrameNs: UInt64 { type(of: outlet).keyFrameNs }
    var takesBatches: Bool { type(of: outlet).takesBatches }
    var needsKeyFrame: Bool { recording == nil }
    var isDelivering: Bool { hasBegun }

    func share(_ demand: EncoderDemand, sound: SoundEncoder) {
      self.demand = demand
      soundEncoder = sound
    }

    private func waitForRoomForUnits(until deadline: Deadline) throws(DestinationError) -> Bool {
      guard let recording else { return true }
      while true {
        guard try recording.pipeline.waitForRoom(below: 1, until: deadline, stop: nil) else {
          return false
        }
        if recording.pipeline.backlogNs < Self.mostBacklogNs { return true }
        if deadline.isPast { return false }
        sleep(until: min(deadline, .after(Self.pollInterval)))
      }
    }

    func accept(_ unit: KeptUnit, ptsNs: UInt64) throws(DestinationError) {
      if recording == nil { try start(unit) }
      if let offsetNs = demand?.wallOffsetNs {
        outlet.place(ptsNs: ptsNs, wallNs: unit.timeNs &+ offsetNs)
      }
      try recording?.pipeline.push(unit, ptsNs: ptsNs)
      try ending { () throws(DestinationError) in try outlet.check() }
    }

    private func start(_ unit: KeptUnit) throws(DestinationError) {
      let pipeline =
        if unit.isSound {
          // The caps choose the muxer's pad.
          try Pipeline(
            [.onlyCaps(soundEncoder.unitCaps)] + outlet.elementsForSoundAlone,
            output: output, takesUnits: true)
        } else {
          try Pipeline(
            [.sharedParser] + (isSoundExpected ? [.waitForOtherTrack] : []) + outlet.elements,
            sound: isSoundExpected ? [.waitForOtherTrack] : [], output: output, takesUnits: true)
        }
      try start(Recording(pipeline: pipeline), ofUnits: !unit.isSound)
    }
  }

  extension ElementDescription {
    /// Gives each container the form of H.264 that it has.
    static let sharedParser = ElementDescription(
      factory: "h264parse", package: "gstreamer1.0-plugins-bad")

    /// The same for another codec, if this is a parser of H.264.
    fileprivate func parsing(_ codec: VideoCodec) -> ElementDescription {
      guard factory == Self.sharedParser.factory else { return self }
      var parser = self
      parser.factory = "\(codec.rawValue)parse"
      return parser
    }
  }
#endif
