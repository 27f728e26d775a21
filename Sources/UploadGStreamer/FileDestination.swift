#if Media
  import FrameBus
  import Platform
  import Upload

  /// Records a stream to a file. The first frame decides the size of the picture; frames of
  /// another size are scaled to fit into it, with black borders, because few players follow a
  /// picture that changes its size within a file.
  public final class FileDestination: Destination {
    /// Two frames in the pipeline: one that the converter reads, and the next.
    public let heldFrames = 2
    public let wantsRepeatedFrames = true
    public let output: String

    private let file: OutputFile
    private let container: FileContainer
    private let encoder: any VideoEncoder
    private let space: SpaceWatch
    private var existedBefore = false
    private var recording: Recording?

    /// A started file.
    private struct Recording {
      var pipeline: Pipeline
      var rate: FrameRate
      var format: FrameFormat
      var geometry: FrameGeometry
    }

    public init(path: String, encoder: EncoderSettings) throws(DestinationError) {
      output = path
      file = OutputFile(path)
      container = try FileContainer(path: path)
      self.encoder = try VideoEncoders.make(encoder)
      space = SpaceWatch(file, bitsPerSecond: encoder.bitsPerSecond(width: 1920, height: 1080))
    }

    public var byteCount: UInt64 { recording?.pipeline.bytesWritten ?? 0 }

    /// Where the newest frame lay when it entered GStreamer; 0 before the first.
    package var entryAddress: UInt { recording?.pipeline.entryAddress ?? 0 }

    public func prepare() throws(DestinationError) {
      try GStreamerRuntime.require(
        [.source] + chain(width: 0, height: 0, rate: .variable))
      existedBefore = file.exists
      do throws(SystemError) {
        try file.checkWritable()
      } catch {
        throw .cannotWrite(error)
      }
      try space.check()
    }

    public func waitForRoom(
      until deadline: Deadline, stop: StopSignal?
    ) throws(DestinationError) -> Bool {
      guard let recording else { return true }
      return try recording.pipeline.waitForRoom(below: heldFrames, until: deadline, stop: stop)
    }

    public func accept(_ frame: HeldFrame, ptsNs: UInt64) throws(DestinationError) {
      // The operator ?? would lose the type of what is thrown.
      var recording =
        if let started = self.recording { started } else {
          try start(frame.lease.format)
        }
      if frame.lease.format != recording.format {
        recording.format = frame.lease.format
        recording.geometry = try FrameGeometry(evenPartOf: frame.lease.format)
        try recording.pipeline.setCaps(recording.geometry.caps(rate: recording.rate))
      }
      self.recording = recording
      let shownNs = frame.lease.metadata.durationNs
      try recording.pipeline.push(
        frame, geometry: recording.geometry, ptsNs: ptsNs,
        durationNs: shownNs > 0 ? shownNs : recording.format.assumedFrameNs)
      if space.isDue {
        do throws(DestinationError) {
          try space.check()
        } catch {
          // While there is room for it, the file gets its proper end.
          try finish()
          throw error
        }
      }
    }

    private func start(_ format: FrameFormat) throws(DestinationError) -> Recording {
      let geometry = try FrameGeometry(evenPartOf: format)
      let chain = chain(width: geometry.width, height: geometry.height, rate: format.frameRate)
      let recording = Recording(
        pipeline: try Pipeline(chain, output: output), rate: format.frameRate, format: format,
        geometry: geometry)
      // Known from here on, so that `abandon` removes what a failing start leaves.
      self.recording = recording
      try recording.pipeline.setCaps(geometry.caps(rate: format.frameRate))
      try recording.pipeline.play()
      return recording
    }

    /// Everything behind appsrc.
    private func chain(width: Int, height: Int, rate: FrameRate) -> [ElementDescription] {
      ElementDescription.scaled(to: encoder.inputFormatName, width: width, height: height)
        + encoder.elements(width: width, height: height, rate: rate) + [
          container.muxer, .writeFile(output),
        ]
    }

    public func finish() throws(DestinationError) {
      try recording?.pipeline.finish()
    }

    public func abandon() {
      guard let recording else { return }
      recording.pipeline.stop()
      // A file without a frame in it helps nobody; one that was there before is the user's.
      if !existedBefore, recording.pipeline.bytesWritten == 0 { try? file.remove() }
    }
  }

  /// `file:PATH.mkv`, `file:PATH.mp4`
  public struct FileDestinationMaker: DestinationMaker {
    public let scheme = "file"
    public let spellings = FileContainer.allCases.map { "file:PATH.\($0.rawValue)" }

    public init() {}

    public func make(
      _ specification: DestinationSpecification, encoder: EncoderSettings
    ) throws(DestinationError) -> any Destination {
      try FileDestination(path: specification.address, encoder: encoder)
    }
  }
#endif
