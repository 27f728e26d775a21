#if Media
  import Platform
  import Upload

  /// Writes a transport stream into segments, which grow as it arrives.
  ///
  /// `@unchecked Sendable` because GStreamer's thread calls it while a pipeline runs, and the
  /// uploading thread before and after.
  final class HLSTransportStream: TapReceiver, @unchecked Sendable {
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

    func take(_ unit: TappedUnit) throws(SystemError) {
      let ptsNs = unit.ptsNs
      if unit.beginsSegment { try begin(at: ptsNs) }
      guard let number = growing?.file.number else { return }
      if let newestNs = growing?.newestNs, ptsNs > newestNs {
        growing?.stepNs = ptsNs - newestNs
        growing?.newestNs = ptsNs
      }
      try unit.withBytes { bytes throws(SystemError) in try writeFully(bytes, to: number) }
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
#endif
