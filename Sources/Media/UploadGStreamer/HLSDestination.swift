#if Media
  import FrameBus
  import Platform
  import Upload

  /// A directory for a web server: the newest seconds as segment files, and their playlist.
  final class HLSOutlet: Outlet {
    static let kinds = [DestinationKind.hls]
    static let changesSize = true
    static let takesBatches = true
    static let segmentNs: UInt64 = 2_000_000_000

    let output: String
    var soundEncoders: [SoundEncoder] { options.soundEncoders }
    var needsOwnEncoder: Bool { options.smallHeight != nil }
    private let options: HLSOptions
    private let settings: EncoderSettings
    private let playlist: OutputFile
    private let space: SpaceWatch
    /// Locked while an upload uses the directory, and not removed afterwards. The playlist itself
    /// cannot be the lock, because each update replaces the file.
    private let lockFile: OutputFile
    private var lock: Descriptor?
    private let clock = HLSClock()
    /// The sizes of the two renditions.
    private var size: PixelRect?
    private var smallSize: PixelRect?
    private var segments: HLSSegments?
    private var fragments: HLSFragments?

    init(_ named: DestinationSpecification, _ setup: DestinationSetup) throws(DestinationError) {
      options = try HLSOptions(named)
      settings = setup.encoder
      output = named.path + "/" + HLSFiles.index
      playlist = OutputFile(output)
      lockFile = OutputFile(named.path + "/.framebus.lock")
      space = SpaceWatch(
        playlist, bitsPerSecond: setup.encoder.bitsPerSecond(width: 1920, height: 1080))
    }

    var elements: [ElementDescription] {
      switch options.form {
      case .transportStream: [TransportStream.parser, Self.muxer, Self.sink]
      case .fragments: [TransportStream.parser, .onlyCaps(Self.unitCaps), Self.funnel, Self.sink]
      }
    }
    var elementsForSoundAlone: [ElementDescription] {
      options.form == .fragments ? [Self.sink] : [Self.muxer, Self.sink]
    }

    /// Without alignment: a segment ends between two pictures, not in a datagram.
    private static let muxer = ElementDescription(
      factory: "mpegtsmux", package: "gstreamer1.0-plugins-bad", soundPad: "sink_%d")
    private static let unitCaps = "video/x-h264,stream-format=avc,alignment=au"
    private static let funnel = ElementDescription(
      factory: "funnel", package: "libgstreamer1.0-0", soundPad: "sink_%u")
    /// What reaches it has been written.
    private static let sink = ElementDescription(
      factory: "fakesink", package: "libgstreamer1.0-0", properties: [.init("sync", "false")])

    func prepare() throws(DestinationError) {
      try writing { () throws(SystemError) in
        try playlist.checkWritable()
        // A missing lock file is not created here, since another upload may be creating it.
        if lockFile.exists { try lockFile.checkWritable() }
      }
      try space.require()
    }

    func open() throws(DestinationError) {
      try writing { () throws(SystemError) in
        if lock == nil { lock = try lockFile.lock() }
      }
    }

    /// The requested height, or half the picture's if it is not larger.
    func smallSize(beside size: PixelRect) throws(DestinationError) -> PixelRect? {
      guard let requested = options.smallHeight else { return nil }
      let height = max(16, (size.height > requested ? requested : size.height / 2) & ~1)
      let width = max(16, (size.width * height / size.height) & ~1)
      guard height < size.height else {
        throw .unusableSize(
          width: size.width, height: size.height, known: "at least 18 rows, or omit small=")
      }
      self.size = size
      smallSize = PixelRect(x: 0, y: 0, width: width, height: height)
      return smallSize
    }

    func connect(_ pipeline: Pipeline, encoder: (any VideoEncoder)?) throws(DestinationError) {
      for property in encoder?.keyFramesOnRequest ?? [] {
        pipeline.set(property, of: encoder?.factory ?? "")
        if smallSize != nil { pipeline.set(property, of: encoder?.factory ?? "", inFork: true) }
      }
      try connect(pipeline, every: Self.segmentNs, encoder: encoder?.factory)
    }

    /// The encoder's owner says where segments begin.
    func connectUnits(_ pipeline: Pipeline) throws(DestinationError) {
      try connect(pipeline, every: 0, encoder: nil)
    }

    private func connect(
      _ pipeline: Pipeline, every intervalNs: UInt64, encoder: String?
    ) throws(DestinationError) {
      let hasPictures = encoder != nil || intervalNs == 0
      let segments = try writing { () throws(SystemError) in try openSegments() }
      switch options.form {
      case .transportStream:
        try pipeline.tap(
          .stream, keysEvery: intervalNs, encoder: encoder, for: HLSTransportStream(segments))
      case .fragments:
        let fragments = self.fragments ?? HLSFragments(segments, every: Self.segmentNs)
        self.fragments = fragments
        fragments.begin(
          hasPictures: hasPictures, smallSize: smallSize.map { ($0.width, $0.height) })
        try pipeline.tap(.units, keysEvery: intervalNs, encoder: encoder, for: fragments)
      }
    }

    private func openSegments() throws(SystemError) -> HLSSegments {
      if let segments { return segments }
      let count = smallSize == nil ? 1 : 2
      let opened = try HLSSegments(
        in: playlist.directory, HLSFiles.of(options.form, renditions: count), clock, variants())
      segments = opened
      return opened
    }

    private func variants() -> HLSVariants? {
      guard let size, let small = smallSize else { return nil }
      let reduced = settings.reduced(from: size, to: small)
      return HLSVariants(bitsPerSecond: [
        settings.bitsPerSecond(width: size.width, height: size.height),
        reduced.bitsPerSecond(width: small.width, height: small.height),
      ])
    }

    func place(ptsNs: UInt64, wallNs: UInt64) { clock.set(ptsNs: ptsNs, wallNs: wallNs) }

    func close() throws(DestinationError) {
      try writing { () throws(SystemError) in try segments?.close() }
    }

    private func writing<Value>(
      _ body: () throws(SystemError) -> Value
    ) throws(DestinationError) -> Value {
      do throws(SystemError) { return try body() } catch { throw .cannotWrite(named(error)) }
    }

    func check() throws(DestinationError) {
      if space.isDue { try space.check() }
    }

    func removeEmpty() {
      if lock != nil { try? lockFile.remove() }
    }

    /// Names the playlist instead of the lock file, because users know the playlist.
    private func named(_ error: SystemError) -> SystemError {
      error.isBusy ? .busy(path: output) : error
    }
  }
#endif
