/// Cuts stereo sound at 48,000 sample frames a second, in pieces of any size, into chunks.
///
/// As long as pieces follow each other, chunks do, by the count of samples. A piece that begins
/// more than 20 ms from where the one before ended begins anew: what was left of it is given up.
public struct Rechunker: Sendable {
  private static let toleranceNs: UInt64 = 20_000_000

  private var samples: [Float] = []
  /// Of the first of `samples`, had the pieces since then followed each other exactly.
  private var firstNs: Int64?

  public init() {}

  /// - Parameter ptsNs: of the piece's first sample.
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

  /// The next chunk, if it is complete, and when its first sample is heard.
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
