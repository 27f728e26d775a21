#if Media
  import CGStreamer
  import Platform
  import Upload

  /// Writes a transport stream into segments, which grow as it arrives.
  ///
  /// `@unchecked Sendable` because GStreamer's thread calls it while a pipeline runs, and the
  /// uploading thread before and after.
  final class HLSTransportStream: @unchecked Sendable {
    private struct Growing: ~Copyable {
      let file: Descriptor
      let number: UInt64
      let startNs: UInt64
      var newestNs: UInt64
      /// The time between its two newest samples.
      var stepNs: UInt64
    }

    private let segments: HLSSegments
    private var growing: Growing?

    init(_ segments: HLSSegments) { self.segments = segments }

    func take(_ bytes: RawSpan, ptsNs: UInt64, begins: Bool) throws(SystemError) {
      if begins { try begin(at: ptsNs) }
      guard let number = growing?.file.number else { return }
      if let newestNs = growing?.newestNs, ptsNs > newestNs {
        growing?.stepNs = ptsNs - newestNs
        growing?.newestNs = ptsNs
      }
      try writeFully(bytes, to: number)
    }

    private func begin(at ptsNs: UInt64) throws(SystemError) {
      try complete(before: ptsNs)
      let number = try segments.reserve()
      let file = try segments.create(segments.files[0].segment(number))
      growing = Growing(file: file, number: number, startNs: ptsNs, newestNs: ptsNs, stepNs: 0)
    }

    private func complete(before nextNs: UInt64?) throws(SystemError) {
      guard let ended = growing.take() else { return }
      let span = HLSSpan(
        from: ended.startNs, newestNs: ended.newestNs, stepNs: ended.stepNs, nextNs: nextNs)
      try segments.complete(ended.number, span)
    }

    /// Ends the segments of one encoder. Those of the next have other tables and sizes.
    func endPart() throws(SystemError) {
      guard growing != nil else { return }
      try complete(before: nil)
      segments.discontinue()
    }
  }

  extension Pipeline {
    /// Passes the output to `stream`, cut at the first picture of each interval. Before `play`.
    /// - Parameter encoder: nil for sound alone.
    func cut(
      every intervalNs: UInt64, encoder: String?, for stream: HLSTransportStream
    ) throws(DestinationError) {
      var receiver = unsafe upload_unit_receiver(
        handler: takeStream, context: Unmanaged.passRetained(stream).toOpaque(),
        release: releaseStream)
      // SAFETY: the pipeline exists until `stop`; the arguments live during the call.
      guard unsafe upload_pipeline_cut(handle, encoder, intervalNs, &receiver) else {
        unsafe receiver.release(receiver.context)
        throw .elementFailed(element: "pipeline", message: "it has no output", detail: "")
      }
    }
  }

  /// Called by CGStreamer on a thread of GStreamer.
  /// SAFETY: `context` is the `HLSTransportStream` that `cut` retained; the unit is valid during
  /// the call.
  private func takeStream(
    _ context: UnsafeMutableRawPointer?, _ unit: UnsafePointer<upload_unit>?
  ) -> Int32 {
    guard let context = unsafe context else { return 0 }
    let stream = unsafe Unmanaged<HLSTransportStream>.fromOpaque(context).takeUnretainedValue()
    do throws(SystemError) {
      guard let unit = unsafe unit?.pointee else {
        try stream.endPart()
        return 0
      }
      let bytes = unsafe UnsafeRawBufferPointer(start: unit.bytes, count: unit.byteCount)
      try unsafe stream.take(bytes.bytes, ptsNs: unit.ptsNs, begins: unit.beginsSegment)
    } catch {
      return error.code
    }
    return 0
  }

  /// SAFETY: `context` is the object that `cut` retained for exactly this call.
  private func releaseStream(_ context: UnsafeMutableRawPointer?) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<HLSTransportStream>.fromOpaque(context).release()
  }
#endif
