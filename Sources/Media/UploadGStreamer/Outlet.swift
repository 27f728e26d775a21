#if Media
  import FrameBus
  import Upload

  /// The output of encoded pictures and sound: a container, and the file or peer that receives it.
  /// `EncodingDestination` depends only on this protocol; a new output needs one conformance, named
  /// in `DestinationMaker.media`, and one row, `DestinationKind`.
  protocol Outlet: AnyObject, SendableMetatype {
    /// The rows of its table.
    static var kinds: [DestinationKind] { get }
    /// Whether it is a peer that may disconnect and come back.
    static var reconnects: Bool { get }
    /// Whether pictures of another size begin a new stream. Otherwise they are scaled to the first.
    static var changesSize: Bool { get }
    /// Whether it cannot take pictures that are encoded for several destinations.
    var needsOwnEncoder: Bool { get }
    /// Whether data may wait for a tenth of a second until there is more: nobody sees it at once,
    /// and the threads in its way are woken less often.
    static var takesBatches: Bool { get }
    /// The time between key frames that it needs at most.
    static var keyFrameNs: UInt64 { get }
    /// How long to try to reach a peer for the first time, while a user waits.
    var firstRetries: Duration { get }

    init(_ named: DestinationSpecification, _ setup: DestinationSetup) throws(DestinationError)

    /// Its name in messages: a path or an address, without secrets.
    var output: String { get }
    /// The codecs that the container takes, the preferred one first.
    var codecs: [VideoCodec] { get }
    /// The formats of sound that the container takes, the preferred one first. Others are used if
    /// another destination needs them.
    var soundEncoders: [SoundEncoder] { get }
    /// The elements that take H.264 access units; one of them has a `soundPad`. For another codec,
    /// the parser is another.
    var elements: [ElementDescription] { get }
    /// The elements for sound without pictures.
    var elementsForSoundAlone: [ElementDescription] { get }

    /// Checks that the output can work. Leaves nothing behind.
    func prepare() throws(DestinationError)
    /// Called right before the first byte: reserves the output for this upload.
    func open() throws(DestinationError)
    /// Called before a pipeline starts.
    /// - Parameter encoder: nil for sound alone.
    func connect(_ pipeline: Pipeline, encoder: (any VideoEncoder)?) throws(DestinationError)
    /// Called instead if the pictures are encoded elsewhere.
    func connectUnits(_ pipeline: Pipeline) throws(DestinationError)
    /// Called before `connect`: the size of a second rendition of pictures of this size.
    func smallSize(beside size: PixelRect) throws(DestinationError) -> PixelRect?
    /// Called with every picture: when it was captured, in nanoseconds since 1970.
    func place(ptsNs: UInt64, wallNs: UInt64)
    /// Called with every frame: throws if there is too little space left.
    func check() throws(DestinationError)
    /// A message from the peer without the secrets that were sent to it.
    func redacted(_ message: String) -> String
    /// Removes an output without content.
    func removeEmpty()
    /// Called after the last byte of a complete output.
    func close() throws(DestinationError)
  }

  extension Outlet {
    static var reconnects: Bool { false }
    static var changesSize: Bool { false }
    var needsOwnEncoder: Bool { false }
    static var takesBatches: Bool { false }
    static var keyFrameNs: UInt64 { HLSOutlet.segmentNs }
    var firstRetries: Duration { .zero }
    var codecs: [VideoCodec] { [.h264] }
    static var maker: DestinationMaker {
      DestinationMaker(kinds) { named, setup throws(DestinationError) in
        let outlet = try Self(named, setup)
        if reconnects { return try PeerDestination(outlet, setup) }
        return try EncodingDestination(outlet, setup.encoder)
      }
    }

    var elementsForSoundAlone: [ElementDescription] { elements }
    func open() throws(DestinationError) {}
    func connect(_ pipeline: Pipeline, encoder: (any VideoEncoder)?) throws(DestinationError) {}
    func connectUnits(_ pipeline: Pipeline) throws(DestinationError) {
      try connect(pipeline, encoder: nil)
    }
    func smallSize(beside size: PixelRect) throws(DestinationError) -> PixelRect? { nil }
    func place(ptsNs: UInt64, wallNs: UInt64) {}
    func check() throws(DestinationError) {}
    func redacted(_ message: String) -> String { message }
    func removeEmpty() {}
    func close() throws(DestinationError) {}
  }

  extension DestinationMaker {
    /// The destinations that need GStreamer.
    /// - Parameter whip: the options of a WHIP upload, which no other kind has.
    public static func media(whip: WHIPOptions = WHIPOptions()) -> [DestinationMaker] {
      [
        FileOutlet.maker, SnapshotDestination.maker, WHIPDestination.maker(whip), SRTOutlet.maker,
        RTMPOutlet.maker, HLSOutlet.maker, UDPOutlet.maker, ReplayOutlet.maker,
      ]
    }
  }
#endif
