#if Media
  import Platform
  import Upload

  /// A directory that a web server shows: the newest seconds as files, and a playlist of them.
  final class HLSOutlet: Outlet {
    private static let segmentSeconds = 2
    /// A player begins three segments before the end (RFC 8216, 6.3.3).
    private static let playlistLength = 5
    /// A player that is late still finds what the playlist before named.
    private static let fileCount = 10

    let output: String
    let soundEncoder = SoundEncoder.aac
    private let directory: String
    private let playlist: OutputFile
    private let space: SpaceWatch
    /// Locked while an upload has the directory, and left there: hlssink puts a new file in its
    /// playlist's place each time, so a lock on that would keep nobody out.
    private let lockFile: OutputFile
    private var lock: Descriptor?

    init(directory: String, encoder: EncoderSettings) throws(DestinationError) {
      guard !directory.isEmpty else { throw .malformed("hls:") }
      self.directory = directory
      output = directory + "/index.m3u8"
      playlist = OutputFile(output)
      lockFile = OutputFile(directory + "/.framebus.lock")
      space = SpaceWatch(playlist, bitsPerSecond: encoder.bitsPerSecond(width: 1920, height: 1080))
    }

    var elements: [ElementDescription] { TransportStream.elements + [sink] }
    var elementsForSoundAlone: [ElementDescription] { [TransportStream.muxer, sink] }

    private var sink: ElementDescription {
      ElementDescription(
        factory: "hlssink", package: "gstreamer1.0-plugins-bad",
        properties: [
          .init("location", directory + "/segment%05d.ts"), .init("playlist-location", output),
          .init("target-duration", String(Self.segmentSeconds)),
          .init("playlist-length", String(Self.playlistLength)),
          .init("max-files", String(Self.fileCount)),
        ])
    }

    func prepare() throws(DestinationError) {
      do throws(SystemError) {
        try playlist.checkWritable()
        // Where there is none, trying to make one could take it from who makes it just then.
        if lockFile.exists { try lockFile.checkWritable() }
      } catch {
        throw .cannotWrite(named(error))
      }
      try space.require()
    }

    func open() throws(DestinationError) {
      do throws(SystemError) { lock = try lockFile.lock() } catch {
        throw .cannotWrite(named(error))
      }
    }

    func check() throws(DestinationError) {
      if space.isDue { try space.check() }
    }

    func removeEmpty() {
      if lock != nil { try? lockFile.remove() }
    }

    /// Who has the directory writes its playlist: that is the file a user knows.
    private func named(_ error: SystemError) -> SystemError {
      error.isBusy ? .busy(path: output) : error
    }
  }

  /// `hls:DIRECTORY`
  public struct HLSDestinationMaker: DestinationMaker {
    public let scheme = "hls"
    public let spellings = ["hls:DIRECTORY"]

    public init() {}

    public func make(
      _ specification: DestinationSpecification, encoder: EncoderSettings
    ) throws(DestinationError) -> any Destination {
      try EncodingDestination(
        HLSOutlet(directory: specification.address, encoder: encoder), encoder: encoder)
    }
  }
#endif
