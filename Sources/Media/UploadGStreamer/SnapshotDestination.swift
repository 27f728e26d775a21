#if Media
  import FrameBus
  import Platform
  import Upload

  /// Writes one frame, whole and uncropped, as a PNG picture.
  public final class SnapshotDestination: Destination {
    static let maker = DestinationMaker([.png]) { named, _ throws(DestinationError) in
      try SnapshotDestination(path: named.address)
    }

    public let heldFrames = 1
    public let wantsRepeatedFrames = false
    public let frameLimit: Int? = 1
    public let output: String

    private let file: OutputFile
    private var existedBefore = false
    private var pipeline: Pipeline?
    private var lock: Descriptor?

    public init(path: String) throws(DestinationError) {
      guard path.lowercased().hasSuffix(".png") else {
        throw .wrongExtension(path: path, known: ["png"])
      }
      output = path
      file = OutputFile(path)
    }

    public var byteCount: UInt64 { pipeline?.bytesWritten ?? 0 }

    private var chain: [ElementDescription] {
      [
        .convert, .onlyCaps("video/x-raw,format=RGB"), .turnUpright,
        ElementDescription(
          factory: "pngenc", package: "gstreamer1.0-plugins-good",
          properties: [.init("snapshot", "true")]),
        .writeFile(output),
      ]
    }

    public func prepare() throws(DestinationError) {
      try GStreamerRuntime.require([.source] + chain)
      existedBefore = file.exists
      do throws(SystemError) {
        try file.checkWritable()
      } catch {
        throw .cannotWrite(error)
      }
      try SpaceWatch(file, bitsPerSecond: 0).require()
    }

    public func waitForRoom(
      until deadline: Deadline, stop: StopSignal?
    ) throws(DestinationError) -> Bool { pipeline == nil }

    public func accept(_ frame: HeldFrame, ptsNs: UInt64) throws(DestinationError) {
      precondition(pipeline == nil, "a snapshot holds one frame")
      let geometry = try FrameGeometry(whole: frame.lease.format, within: .snapshot)
      lock = try file.lockedForUpload()
      let pipeline = try Pipeline(chain, output: output)
      self.pipeline = pipeline
      try pipeline.setCaps(geometry.caps(rate: frame.lease.format.plannedRate))
      try pipeline.play()
      try pipeline.push(
        frame, geometry: geometry, ptsNs: ptsNs,
        durationNs: frame.lease.format.assumedFrameNs)
    }

    public func finish() throws(DestinationError) {
      do throws(DestinationError) { try pipeline?.finish() } catch {
        throw error.beforeTheFirstByte
      }
    }

    public func abandon() {
      guard let pipeline else { return }
      pipeline.stop()
      // A partial picture is useless.
      if !existedBefore { try? file.remove() }
    }
  }
#endif
