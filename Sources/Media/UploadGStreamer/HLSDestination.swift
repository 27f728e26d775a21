#if Media
  import Platform
  import Upload

  /// A directory for a web server: the newest seconds as segment files, and their playlist.
  final class HLSOutlet: Outlet {
    static let kinds = [DestinationKind.hls]
    static let changesSize = true
    static let segmentNs: UInt64 = 2_000_000_000

    let output: String
    let soundEncoder = SoundEncoder.aac
    private let directory: String
    private let playlist: OutputFile
    private let space: SpaceWatch
    /// Locked while an upload uses the directory, and not removed afterwards. The playlist itself
    /// cannot be the lock, because each update replaces the file.
    private let lockFile: OutputFile
    private var lock: Descriptor?
    private var segments: HLSSegments?

    init(_ named: DestinationSpecification, _ setup: DestinationSetup) throws(DestinationError) {
      directory = named.address
      output = directory + "/" + HLSPlaylist.name
      playlist = OutputFile(output)
      lockFile = OutputFile(directory + "/.framebus.lock")
      space = SpaceWatch(
        playlist, bitsPerSecond: setup.encoder.bitsPerSecond(width: 1920, height: 1080))
    }

    var elements: [ElementDescription] { [TransportStream.parser, Self.muxer, Self.sink] }
    var elementsForSoundAlone: [ElementDescription] { [Self.muxer, Self.sink] }

    /// Without alignment: a segment ends between two pictures, not in a datagram.
    private static let muxer = ElementDescription(
      factory: "mpegtsmux", package: "gstreamer1.0-plugins-bad", soundPad: "sink_%d")
    /// `HLSSegments` has written what reaches it.
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
        if segments == nil { segments = try HLSSegments(in: directory) }
      }
    }

    func connect(_ pipeline: Pipeline, encoder: (any VideoEncoder)?) throws(DestinationError) {
      for property in encoder?.keyFramesOnRequest ?? [] {
        pipeline.set(property, of: encoder?.factory ?? "")
      }
      guard let segments else { return }
      try pipeline.cut(every: Self.segmentNs, encoder: encoder?.factory, for: segments)
    }

    /// The encoder's owner says where segments begin.
    func connectUnits(_ pipeline: Pipeline) throws(DestinationError) {
      guard let segments else { return }
      try pipeline.cut(every: 0, encoder: nil, for: segments)
    }

    func close() throws(DestinationError) {
      try writing { () throws(SystemError) in try segments?.close() }
    }

    private func writing(_ body: () throws(SystemError) -> Void) throws(DestinationError) {
      do throws(SystemError) { try body() } catch { throw .cannotWrite(named(error)) }
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
