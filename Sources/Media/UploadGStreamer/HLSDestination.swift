#if Media
  import Platform
  import Upload

  /// A directory for a web server: the newest seconds as segment files, and their playlist.
  final class HLSOutlet: Outlet {
    static let kinds = [DestinationKind.hls]
    private static let segmentSeconds = 2
    /// A player begins three segments before the end (RFC 8216, 6.3.3).
    private static let playlistLength = 5
    /// A late player still finds the segments of the previous playlist.
    private static let fileCount = 10

    let output: String
    let soundEncoder = SoundEncoder.aac
    private let directory: String
    private let playlist: OutputFile
    private let space: SpaceWatch
    /// Locked while an upload uses the directory, and not removed afterwards. The playlist itself
    /// cannot be the lock, because hlssink replaces the file at each update.
    private let lockFile: OutputFile
    private var lock: Descriptor?

    init(_ named: DestinationSpecification, _ setup: DestinationSetup) throws(DestinationError) {
      directory = named.address
      output = directory + "/index.m3u8"
      playlist = OutputFile(output)
      lockFile = OutputFile(directory + "/.framebus.lock")
      space = SpaceWatch(
        playlist, bitsPerSecond: setup.encoder.bitsPerSecond(width: 1920, height: 1080))
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
        // A missing lock file is not created here, since another upload may be creating it.
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

    /// Names the playlist instead of the lock file, because users know the playlist.
    private func named(_ error: SystemError) -> SystemError {
      error.isBusy ? .busy(path: output) : error
    }
  }
#endif
