#if Media
  import Capture
  import FrameBus

  extension PipelineRun {
    /// The publisher of a session's stream, with the slots that a pipeline's sink needs.
    /// - Parameter change: changes the options.
    static func publisher(
      of format: FrameFormat, in session: CaptureSession,
      _ change: (inout PublisherOptions) -> Void = { _ in }
    ) throws(PipelineError) -> Publisher {
      var options = PublisherOptions()
      options.streamChanged = session.streamChanged
      options.slotBytes = slotBytes(for: format)
      options.maxLoans = SlotSink.slotCount + 1
      // A lossless subscriber may lag by as many frames as loans are out, plus two.
      options.ringDepth = options.maxLoans + 2
      change(&options)
      do {
        return try Publisher(session.stream, in: session.group, format: format, options: options)
      } catch { throw .publishing(.publisher(error)) }
    }
  }
#endif
