#if Media
  import Sound
  import Upload

  /// A sound encoder of several destinations. It receives several chunks at once, because each push
  /// wakes its thread, and those behind it.
  final class SoundFeed {
    /// The length of a packet of Opus.
    static let shortestBatchNs: UInt64 = 20_000_000
    /// If all destinations take batches themselves.
    static let longestBatchNs: UInt64 = 100_000_000

    let feed: Feed
    /// The chunks that wait, and the time of the first.
    private var chunks: [SoundChunk] = []
    private var ptsNs: UInt64 = 0
    private var endNs: UInt64 { ptsNs + UInt64(chunks.count) * SoundChunk.durationNs }

    init(_ feed: Feed) { self.feed = feed }

    /// - Parameter batchNs: how much to pass on at once.
    func accept(
      _ chunk: SoundChunk, ptsNs: UInt64, batchNs: UInt64
    ) throws(DestinationError) {
      if !chunks.isEmpty, ptsNs != endNs { try flush() }
      if chunks.isEmpty { self.ptsNs = ptsNs }
      chunks.append(chunk)
      if endNs - self.ptsNs >= batchNs { try flush() }
    }

    private func flush() throws(DestinationError) {
      if chunks.isEmpty { return }
      try feed.pipeline.push(chunks, ptsNs: ptsNs)
      chunks.removeAll(keepingCapacity: true)
    }

    func finish() throws(DestinationError) {
      try flush()
      try feed.pipeline.finish()
    }
  }
#endif
