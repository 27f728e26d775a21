#if Media
  import CGStreamer
  import Capture
  import FrameBus
  import Platform

  /// Publishes the frames of a video file, or of a GStreamer pipeline.
  ///
  /// A file loses nothing: it waits for its first subscriber, then goes as fast as the slowest
  /// lossless one, and keeps the file's own time stamps. A pipeline runs by the clock, and its
  /// frames are stamped as if the first were captured on arrival.
  public struct PipelineSource: FrameSource {
    private let description: String
    private let file: String?
    private let name: String
    private let isLive: Bool
    private let rate: FrameRate?

    /// - Parameter rate: frames are dropped or repeated to make it steady; nil leaves them.
    public init(file path: String, rate: FrameRate? = nil) {
      name = path
      file = path
      isLive = false
      self.rate = rate
      // The video is linked when it appears. Sound has no link, so nobody decodes it further
      // than its first buffer.
      description = "filesrc name=file ! decodebin name=decoder decoder. ! \(Self.tail(rate))"
    }

    /// - Parameter pipeline: elements without a sink, as `gst-launch-1.0` takes them.
    public init(pipeline: String, rate: FrameRate? = nil) {
      name = "the pipeline"
      file = nil
      isLive = true
      self.rate = rate
      description = "\(pipeline) ! identity sync=true ! \(Self.tail(rate))"
    }

    private static func tail(_ rate: FrameRate?) -> String {
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
      var run = PipelineRun(
        try SlotSink(description: description, file: file, name: name), name: name,
        isLive: isLive, rate: rate, session: session)
      try run.start()
      guard let format = try run.firstFormat() else { return }
      var options = PublisherOptions()
      options.streamChanged = session.streamChanged
      options.slotBytes = PipelineRun.slotBytes(for: format)
      options.maxLoans = SlotSink.slotCount + 1
      // A lossless subscriber may be as far behind as the loans that are out, and two frames more.
      options.ringDepth = options.maxLoans + 2
      options.allowsLossless = !isLive
      // A file waits for as long as its slowest reader gets on.
      options.losslessStallBudget = nil
      let publisher: Publisher
      do {
        publisher = try Publisher(
          session.stream, in: session.group, format: format, options: options)
      } catch { throw .publishing(.publisher(error)) }
      try session.drive(publisher) { (publisher) throws(PipelineError) in
        // The pipeline's threads end, and their loans go back, before the publisher finishes.
        defer { run.stop() }
        try run.publishAll(with: &publisher)
      }
    }
  }
#endif
