#if Media
  import FrameBus
  import Platform
  import Sound
  import Synchronization
  import Upload

  /// Encodes a stream's pictures and sound once for all viewers, in the size of the stream: a
  /// change of size begins a new encoder, whose first picture is a key frame.
  public final class ViewersDestination: Destination {
    public let heldFrames = 2
    public let wantsRepeatedFrames = true
    public let takesSound = true
    public let output = "the live page"

    /// The shortest time between requested key frames, because they are large.
    private static let keyFrameNs: UInt64 = 500_000_000

    private let viewers: Viewers
    private let settings: EncoderSettings
    private var encoder: any LiveEncoder { viewers.encoder }
    private var hasSound = false
    private var pictures: Pictures?
    private var sound: Feed?
    /// Of encoders that have ended.
    private var formerBytes: UInt64 = 0
    private var keyFrameAtNs: UInt64 = 0
    /// The CLOCK_MONOTONIC time at which the run's own time began.
    private var originNs: UInt64?
    private let latency = LatencyMeter()

    private struct Pictures {
      let feed: Feed
      let rate: FrameRate
      var format: FrameFormat
      var geometry: FrameGeometry
      var newest: SequenceNumber
    }

    public init(_ viewers: Viewers, encoder: EncoderSettings) {
      self.viewers = viewers
      settings = encoder
    }

    deinit { abandon() }

    public var byteCount: UInt64 { formerBytes + (pictures?.feed.pipeline.bytesWritten ?? 0) }

    public var pictureDemand: Demand { viewers.demand }

    /// The median latency from capture to encoded of the frames since the last call; 0 without any.
    /// Any thread may call it.
    public var takeLatencyP50Ns: @Sendable () -> UInt64 { { [latency] in latency.take() } }

    public func expectSound() { hasSound = true }

    public func prepare() throws(DestinationError) {
      try GStreamerRuntime.require(
        [.source, .end] + chain(width: 0, height: 0, rate: .variable)
          + (hasSound ? ElementDescription.viewerSound : []))
    }

    public func waitForRoom(
      until deadline: Deadline, stop: StopSignal?
    ) throws(DestinationError) -> Bool {
      guard let pipeline = pictures?.feed.pipeline else { return true }
      return try pipeline.waitForRoom(below: heldFrames, until: deadline, stop: stop)
    }

    public func accept(_ frame: HeldFrame, ptsNs: UInt64) throws(DestinationError) {
      if let started = self.pictures, !started.format.hasSize(of: frame.lease.format) {
        formerBytes = byteCount
        started.feed.pipeline.stop()
        self.pictures = nil
      }
      // The operator ?? would lose the type of the error.
      var pictures =
        if let started = self.pictures { started } else { try start(frame, ptsNs) }
      if frame.lease.format != pictures.format {
        pictures.format = frame.lease.format
        pictures.geometry = try FrameGeometry(
          evenPartOf: frame.lease.format, within: encoder.limits)
        try pictures.feed.pipeline.setCaps(pictures.geometry.caps(rate: pictures.rate))
      }
      let isRepeated = self.pictures != nil && frame.lease.sequence == pictures.newest
      pictures.newest = frame.lease.sequence
      self.pictures = pictures
      if isRepeated { latency.ignore((originNs ?? 0) &+ ptsNs) }
      requestKeyFrameIfNeeded(pictures.feed)
      try pictures.feed.pipeline.push(
        frame, geometry: pictures.geometry, ptsNs: ptsNs,
        durationNs: pictures.format.assumedFrameNs)
    }

    public func accept(_ chunk: SoundChunk, ptsNs: UInt64) throws(DestinationError) {
      let sound = if let started = self.sound { started } else { try startSound(ptsNs) }
      try sound.pipeline.push(chunk, ptsNs: ptsNs)
    }

    private func requestKeyFrameIfNeeded(_ feed: Feed) {
      let nowNs = monotonicNowNs()
      guard nowNs > keyFrameAtNs &+ Self.keyFrameNs, viewers.takeKeyFrameRequest() else { return }
      keyFrameAtNs = nowNs
      feed.requestKeyFrame()
    }

    private func start(_ frame: HeldFrame, _ ptsNs: UInt64) throws(DestinationError) -> Pictures {
      let format = frame.lease.format
      let geometry = try FrameGeometry(evenPartOf: format, within: encoder.limits)
      let size = geometry.upright(frame.lease.metadata.orientation)
      let pipeline = try Pipeline(
        chain(width: size.width, height: size.height, rate: format.plannedRate) + [.end],
        output: output)
      try pipeline.setCaps(geometry.caps(rate: format.plannedRate))
      let capturedAtNs = frame.lease.metadata.capturedAtNs
      let nowNs = monotonicNowNs()
      let isOurClock = capturedAtNs > 0 && capturedAtNs <= nowNs
      let feed = try begin(
        pipeline, at: (isOurClock ? capturedAtNs : nowNs) &- ptsNs
      ) { [viewers, latency] unit in
        latency.record(unit.timeNs)
        viewers.send(unit, isSound: false)
      }
      return Pictures(
        feed: feed, rate: format.plannedRate, format: format, geometry: geometry,
        newest: frame.lease.sequence)
    }

    private func startSound(_ ptsNs: UInt64) throws(DestinationError) -> Feed {
      let pipeline = try Pipeline(ElementDescription.viewerSound + [.end], output: output)
      try pipeline.setSoundCaps()
      let feed = try begin(pipeline, at: monotonicNowNs() &- ptsNs) { [viewers] unit in
        viewers.send(unit, isSound: true)
      }
      sound = feed
      return feed
    }

    /// Starts a pipeline. Pictures and sound share the origin of the one that began first.
    private func begin(
      _ pipeline: Pipeline, at startNs: UInt64, _ handler: @escaping @Sendable (EncodedUnit) -> Void
    ) throws(DestinationError) -> Feed {
      let originNs = originNs ?? startNs
      self.originNs = originNs
      let feed = try Feed(pipeline, originNs: originNs, handler)
      try pipeline.play()
      return feed
    }

    private func chain(width: Int, height: Int, rate: FrameRate) -> [ElementDescription] {
      ElementDescription.scaled(to: encoder.inputFormatName, width: width, height: height)
        + encoder.encoding(width: width, height: height, rate: rate)
        + [.onlyCaps(encoder.unitCaps)]
    }

    public func finish() throws(DestinationError) { abandon() }

    public func abandon() {
      pictures?.feed.pipeline.stop()
      sound?.pipeline.stop()
    }
  }

  extension FrameFormat {
    fileprivate func hasSize(of other: FrameFormat) -> Bool {
      width == other.width && height == other.height
    }
  }

  /// Measures the latency of frames from capture to encoded.
  private final class LatencyMeter: Sendable {
    private struct Values {
      var histogram = LatencyHistogram()
      var ignoredNs: UInt64 = 0
    }

    private let values = Mutex(Values())

    /// Excludes a repeated frame, whose timestamp is not its time of capture.
    func ignore(_ timeNs: UInt64) { values.withLock { $0.ignoredNs = timeNs } }

    func record(_ timeNs: UInt64) {
      let nowNs = monotonicNowNs()
      values.withLock { values in
        guard timeNs != values.ignoredNs, timeNs < nowNs else { return }
        values.histogram.record(nowNs - timeNs)
      }
    }

    func take() -> UInt64 {
      values.withLock { values in
        defer { values.histogram = LatencyHistogram() }
        return values.histogram.quantile(0.5)
      }
    }
  }

  extension ElementDescription {
    /// Passes encoded units to their handler.
    fileprivate static let end = ElementDescription(
      factory: "appsink", package: "gstreamer1.0-plugins-base")

    /// Sound in packets of 20 ms, because not every receiver accepts shorter ones.
    fileprivate static let viewerSound = [
      ElementDescription(factory: "audioconvert", package: "gstreamer1.0-plugins-base"),
      ElementDescription(
        factory: "opusenc", package: "gstreamer1.0-plugins-base",
        properties: [
          .init("audio-type", "restricted-lowdelay"), .init("frame-size", "20"),
          .init("bitrate", "96000"),
        ]),
    ]
  }
#endif
