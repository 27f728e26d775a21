#if Media
  import Platform
  import Upload

  /// A file, whose extension names the container.
  final class FileOutlet: Outlet {
    static let kinds = [DestinationKind.file]
    static let takesBatches = true

    let output: String
    private let file: OutputFile
    private let container: FileContainer
    private let space: SpaceWatch
    private var existedBefore = false
    /// Held until the upload has ended.
    private var lock: Descriptor?

    init(_ named: DestinationSpecification, _ setup: DestinationSetup) throws(DestinationError) {
      output = named.address
      file = OutputFile(output)
      container = try FileContainer(path: output)
      space = SpaceWatch(
        file, bitsPerSecond: setup.encoder.bitsPerSecond(width: 1920, height: 1080))
    }

    var codecs: [VideoCodec] { container.codecs }
    var soundEncoders: [SoundEncoder] { [container.soundEncoder] }
    var elements: [ElementDescription] { [container.muxer, .writeFile(output)] }

    func prepare() throws(DestinationError) {
      existedBefore = file.exists
      do throws(SystemError) {
        try file.checkWritable()
      } catch {
        throw .cannotWrite(error)
      }
      try space.require()
    }

    func open() throws(DestinationError) { lock = try file.lockedForUpload() }

    func check() throws(DestinationError) {
      if space.isDue { try space.check() }
    }

    /// Removes a file without frames, unless it existed before and so belongs to the user.
    func removeEmpty() {
      if lock != nil, !existedBefore { try? file.remove() }
    }
  }

  extension OutputFile {
    func lockedForUpload() throws(DestinationError) -> Descriptor {
      do throws(SystemError) { return try lock() } catch { throw .cannotWrite(error) }
    }
  }

  extension EncodingDestination {
    /// Records to a file.
    public convenience init(path: String, encoder: EncoderSettings) throws(DestinationError) {
      let setup = DestinationSetup(encoder: encoder)
      try self.init(FileOutlet(DestinationSpecification("file:" + path), setup), encoder)
    }
  }
#endif
