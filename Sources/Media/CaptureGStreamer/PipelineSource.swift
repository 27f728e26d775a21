#if Media
  import CGStreamer
  import Capture
  import FrameBus
  import Platform

  /// Publishes the frames of a video file, or of a GStreamer pipeline.
  ///
  /// A file loses nothing: it waits for the first subscriber to its pictures, then runs as fast as
  /// the slowest lossless one, and keeps the file's own time stamps, as its sound does
  /// (`FileSound`). A pipeline runs in real time, and its frames are stamped as if the first were
  /// captured on arrival.
  public struct PipelineSource: FrameSource {
    private let description: String
    private let file: String?
    private let name: String
    private let isLive: Bool
    private let rate: FrameRate?
    /// Nil for what the pipeline's elements show.
    private let content: StreamContent?
    private var sound: SoundPart?

    /// The target of a file's sound.
    public struct SoundPart: Sendable {
      let session: CaptureSession
      let refused: @Sendable (String) -> Void

      /// - Parameters:
      ///   - session: names the stream; its `stop` must not be shared with another session.
      ///   - refused: called on another thread with the reason if the sound is left out.
      public init(_ session: CaptureSession, refused: @escaping @Sendable (String) -> Void) {
        self.session = session
        self.refused = refused
      }
    }

    /// - Parameters:
    ///   - rate: drops or repeats frames to make the rate constant; nil keeps the file's rate.
    ///   - sound: nil to leave the sound out.
    public init(file path: String, rate: FrameRate? = nil, sound: SoundPart? = nil) {
      name = path
      file = path
      isLive = false
      self.rate = rate
      content = .other
      self.sound = sound
      // Both branches are linked when their tracks appear. Sound that is not linked is decoded only
      // up to its first buffer.
      let heard =
        " decoder. ! audioconvert name=heard ! \(SoundFormat.caps),layout=interleaved ! "
        + "fakesink name=sound sync=false async=false"
      description =
        "filesrc name=file ! decodebin name=decoder decoder. ! \(Self.tail(rate))"
        + (sound == nil ? "" : heard)
    }

    /// - Parameters:
    ///   - pipeline: elements without a sink, in the syntax of `gst-launch-1.0`.
    ///   - content: what its pictures show; nil for a screen if one of its elements captures one.
    public init(pipeline: String, rate: FrameRate? = nil, content: StreamContent? = nil) {
      name = "the pipeline"
      file = nil
      isLive = true
      self.rate = rate
      self.content = content
      description = "\(pipeline) ! identity sync=true ! \(Self.tail(rate))"
    }

    static func tail(_ rate: FrameRate?) -> String {
      let steady = rate.map {
        "videorate ! video/x-raw,framerate=\($0.numerator)/\($0.denominator) ! "
      }
      return (steady ?? "") + "videoconvert ! \(PipelineFormat.caps) ! "
        + "fakesink name=sink sync=false async=false enable-last-sample=false"
    }

    public mutating func run(in session: CaptureSession) throws(PipelineError) {
      if let file {
        do { _ = try ByteReader(path: file) } catch { throw .unreadable(error) }
      }
      let pipeline = try CapturePipeline(
        description, texts: file.map { [("file", "location", $0)] } ?? [], name: name)
      let sound = try sound.map { (part) throws(PipelineError) in
        try FileSound(
          SoundSink(pipeline, element: "sound", isLive: false), in: part.session,
          refused: part.refused)
      }
      var run = PipelineRun(
        try SlotSink(pipeline, isFile: file != nil), name: name, isLive: isLive, rate: rate,
        session: session, sound: sound)
      defer { run.stop() }
      try run.start()
      guard let format = try run.firstFormat() else { return }
      // All parts of a file are known as soon as one is.
      if let sound, pipeline.isConnected("heard") { try sound.start() }
      let publisher = try PipelineRun.publisher(of: format, in: session) { options in
        // Elements that choose their source have done so before the first format.
        options.content = content ?? (pipeline.capturesScreen ? .screen : .other)
        options.allowsLossless = !isLive
        // A file waits for as long as its slowest subscriber makes progress.
        options.losslessStallBudget = nil
      }
      try session.drive(publisher) { (publisher) throws(PipelineError) in
        // The pipeline's threads end and their loans return before the publisher finishes.
        defer { run.stop() }
        try run.publishAll(with: &publisher)
      }
    }
  }
#endif
