/// Cuts stereo sound at 48,000 sample frames a second, received in pieces of any size, into chunks.
///
/// While pieces follow each other, chunk times are derived from the sample count. A piece that
/// starts more than 20 ms from the end of the previous one restarts the sequence, and samples still
/// waiting are discarded.
public struct Rechunker: Sendable {
  private static let toleranceNs: UInt64 = 20_000_000

  private var samples: [Float] = []
  /// The time of the first of `samples`, counted from the first piece since the last restart.
  private var firstNs: Int64?

  public init() {}

  /// - Parameter ptsNs: time of the piece's first sample.
  public mutating func add(_ piece: [Float], ptsNs: Int64) {
    if let firstNs {
      let expectedNs = firstNs &+ Self.durationNs(samples.count / 2)
      let (apartNs, isOverflown) = ptsNs.subtractingReportingOverflow(expectedNs)
      if isOverflown || apartNs.magnitude > Self.toleranceNs { restart(atNs: ptsNs) }
    } else {
      restart(atNs: ptsNs)
    }
    samples += piece
  }

  /// Returns the next complete chunk and the time of its first sample, or nil.
  public mutating func next() -> (chunk: SoundChunk, ptsNs: Int64)? {
    guard let ptsNs = firstNs, samples.count >= SoundChunk.sampleCount else { return nil }
    let chunk = SoundChunk(Array(samples.prefix(SoundChunk.sampleCount)))
    samples.removeFirst(SoundChunk.sampleCount)
    firstNs = ptsNs &+ Int64(SoundChunk.durationNs)
    return (chunk, ptsNs)
  }

  private mutating func restart(atNs ptsNs: Int64) {
    samples = []
    firstNs = ptsNs
  }

  private static func durationNs(_ sampleFrames: Int) -> Int64 {
    Int64(sampleFrames) * 1_000_000_000 / Int64(SoundChunk.sampleRate)
  }
}
