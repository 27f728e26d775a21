#if Media
  import FrameBus
  import Platform
  import Replay
  import Upload

  /// The newest seconds of a stream, encoded, in a file in memory that outlives this process.
  final class ReplayOutlet: Outlet {
    static let kinds = [DestinationKind.replay]
    /// A saved file begins at the key frame nearest to the requested time: less than half of this
    /// and of a picture away.
    static let keyFrameNs: UInt64 = 500_000_000

    let output: String
    let soundEncoders = [SoundEncoder.aac]
    private let recorder: ReplayRecorder

    init(_ named: DestinationSpecification, _ setup: DestinationSetup) throws(DestinationError) {
      guard let length = ReplayLength(named.address) else {
        throw .peer(
          reason: "\(named.description.plain): \(ReplayLength.advice), as in replay:60s",
          isMisuse: true)
      }
      guard let place = setup.replay else {
        throw .peer(reason: "\(named): no group keeps it; this is a bug", isMisuse: false)
      }
      output = "replay of \(place.stream)"
      recorder = ReplayRecorder(place, length, setup.encoder)
    }

    var elements: [ElementDescription] {
      [
        TransportStream.parser, .onlyCaps("video/x-h264,stream-format=byte-stream,alignment=au"),
        Self.funnel, Self.sink,
      ]
    }
    var elementsForSoundAlone: [ElementDescription] { [Self.sink] }

    private static let funnel = ElementDescription(
      factory: "funnel", package: "libgstreamer1.0-0", soundPad: "sink_%u")
    /// `ReplayRecorder` has written what reaches it.
    private static let sink = ElementDescription(
      factory: "fakesink", package: "libgstreamer1.0-0", properties: [.init("sync", "false")])

    func prepare() throws(DestinationError) {
      do throws(SystemError) { try recorder.requireFree() } catch { throw .cannotWrite(error) }
    }

    func connect(_ pipeline: Pipeline, encoder: (any VideoEncoder)?) throws(DestinationError) {
      for property in encoder?.keyFramesOnRequest ?? [] {
        pipeline.set(property, of: encoder?.factory ?? "")
      }
      recorder.expectsPictures = encoder != nil
      try pipeline.tap(
        .units, keysEvery: Self.keyFrameNs, encoder: encoder?.factory, for: recorder)
    }

    func connectUnits(_ pipeline: Pipeline) throws(DestinationError) {
      recorder.expectsPictures = true
      try pipeline.tap(.units, keysEvery: 0, encoder: nil, for: recorder)
    }

    func close() throws(DestinationError) {
      do throws(SystemError) { try recorder.remove() } catch { throw .cannotWrite(error) }
    }
  }

  /// Writes encoded pictures and sound into a replay file.
  ///
  /// `@unchecked Sendable` because GStreamer calls it with the lock of one pad while a pipeline
  /// runs, and the uploading thread before and after.
  final class ReplayRecorder: TapReceiver, @unchecked Sendable {
    private let place: ReplayPlace
    private let length: ReplayLength
    private let settings: EncoderSettings
    private var writer: ReplayWriter?

    init(_ place: ReplayPlace, _ length: ReplayLength, _ settings: EncoderSettings) {
      self.place = place
      self.length = length
      self.settings = settings
    }

    func requireFree() throws(SystemError) {
      try ReplayWriter.requireFree(place.stream, in: place.directoryPath)
    }

    func take(_ unit: TappedUnit) throws(SystemError) {
      let taken = ReplayUnit(
        unit.isSound ? .sound : .picture, isKey: unit.isKey, ptsNs: unit.ptsNs, dtsNs: unit.dtsNs,
        durationNs: unit.durationNs, bytes: unit.bytes)
      try take(taken, width: unit.width, height: unit.height)
    }

    /// What there is stays until `remove`.
    func endPart() {}

    private func take(_ unit: ReplayUnit, width: Int, height: Int) throws(SystemError) {
      if let writer { return try writer.append(unit) }
      // If sound arrives before the first picture, the size is unknown; a second of it may be lost.
      if unit.kind == .sound, expectsPictures { return }
      let writer = try ReplayWriter(
        of: place.stream, in: place.directoryPath, lengthNs: length.nanoseconds,
        bitsPerSecond: width > 0 ? settings.bitsPerSecond(width: width, height: height) : 0)
      self.writer = writer
      try writer.append(unit)
    }

    /// Set before the pipeline starts.
    var expectsPictures = false

    func remove() throws(SystemError) { try writer?.remove() }
  }
#endif
