import Platform

/// Counts the frames of a run, and derives rates from the counts.
package struct UploadStatistics {
  /// A shorter time gives no meaningful rate.
  private static let leastSeconds = 1.0

  package private(set) var frames = 0
  /// Those that the destination lost: they count as drops, not as sent frames.
  package var lostFrames = 0
  private(set) var repeatedFrames = 0
  private(set) var soundChunks = 0
  private var latency = LatencyHistogram()
  private(set) var firstArrivalNs: UInt64?
  private var newestArrivalNs: UInt64 = 0
  /// The state at the last report.
  private var reportedAtNs = monotonicNowNs()
  private var reportedFrames = 0
  private var reportedBytes: UInt64 = 0

  package init() {}

  var sentFrames: Int { frames - lostFrames }

  package mutating func countFrame(capturedAtNs: UInt64, nowNs: UInt64) {
    frames += 1
    if firstArrivalNs == nil { firstArrivalNs = nowNs }
    newestArrivalNs = nowNs
    // A time stamp from the future belongs to another clock and gives no latency.
    if capturedAtNs > 0, capturedAtNs <= nowNs { latency.record(nowNs - capturedAtNs) }
  }

  mutating func countRepeatedFrame() { repeatedFrames += 1 }
  mutating func countSound() { soundChunks += 1 }

  /// Rates since the last call.
  mutating func progress(
    drops: UInt64, sound: SoundFigures?, byteCount: UInt64, nowNs: UInt64
  ) -> UploadProgress {
    let seconds = Double(nowNs &- reportedAtNs) / 1e9
    var result = totals(drops: drops, sound: sound, byteCount: byteCount)
    if seconds > 0 {
      result.framesPerSecond = Double(max(0, sentFrames - reportedFrames)) / seconds
      result.bitsPerSecond = Double(byteCount &- reportedBytes) * 8 / seconds
    }
    (reportedAtNs, reportedFrames, reportedBytes) = (nowNs, sentFrames, byteCount)
    return result
  }

  /// Rates from the first frame to the newest; 0 if these are too close.
  package func summary(drops: UInt64, sound: SoundFigures?, byteCount: UInt64) -> UploadProgress {
    var result = totals(drops: drops, sound: sound, byteCount: byteCount)
    let seconds = Double(newestArrivalNs &- (firstArrivalNs ?? newestArrivalNs)) / 1e9
    if seconds >= Self.leastSeconds {
      result.framesPerSecond = Double(max(0, sentFrames - 1)) / seconds
      result.bitsPerSecond = Double(byteCount) * 8 / seconds
    }
    return result
  }

  private func totals(
    drops: UInt64, sound: SoundFigures?, byteCount: UInt64
  ) -> UploadProgress {
    UploadProgress(
      frames: sentFrames, repeatedFrames: repeatedFrames,
      drops: drops + UInt64(clamping: lostFrames),
      latencyP50Ns: latency.quantile(0.5), latencyP99Ns: latency.quantile(0.99),
      byteCount: byteCount, sound: sound)
  }
}
