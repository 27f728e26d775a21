/// Several sources of stereo sound at 48,000 sample frames a second, added up into chunks without
/// a gap.
///
/// Each piece of sound comes with its place in time. A source that goes on where it was, give or
/// take 20 ms, goes on without a seam: time stamps jitter, samples do not. Where no source has
/// anything, there is silence; what comes for a moment that is already out is too late.
///
/// A pure calculation: time is what the caller passes in.
public struct SoundMixer {
  /// Names a source of one mixer.
  public struct Source: Hashable, Sendable {
    fileprivate let number: Int
  }

  private struct State {
    /// The sample frame that follows its last one; nil before the first.
    var end: Int?
    var heardAtNs: UInt64
    /// How long the others wait for it, once it falls silent.
    var patienceNs: UInt64
  }

  /// How far a time stamp may differ from the count of samples: 20 ms.
  private static let tolerance = 960
  /// How far ahead of the newest chunk sound is kept: 20 s. What claims to be later is no sound.
  private static let horizon = 960_000

  private var states: [Source: State] = [:]
  private var nextNumber = 0
  /// The sample frame that `mixed` begins with.
  private var position = 0
  private var mixed: [Float] = []
  /// Sample frames that came too late, or claimed to be too far ahead.
  public private(set) var lostCount = 0

  public init() {}

  /// - Parameter patienceNs: for so long after its last sound, chunks wait for its next one.
  public mutating func addSource(patienceNs: UInt64, nowNs: UInt64) -> Source {
    nextNumber += 1
    let source = Source(number: nextNumber)
    states[source] = State(heardAtNs: nowNs, patienceNs: patienceNs)
    return source
  }

  /// Nothing more comes from it, and nothing waits for it.
  public mutating func removeSource(_ source: Source) { states[source] = nil }

  /// Adds sound at its place.
  /// - Parameter atNs: of the first sample; what lies before 0 is left out.
  public mutating func add(_ samples: [Float], atNs: Int64, from source: Source, nowNs: UInt64) {
    guard states[source] != nil, !samples.isEmpty else { return }
    var start = Self.sampleFrame(atNs)
    if let end = states[source]?.end, abs(start - end) <= Self.tolerance { start = end }
    let count = samples.count / 2
    guard start + count <= position + Self.horizon else {
      lostCount += count
      return
    }
    let skipped = min(count, max(0, position - start))
    lostCount += start < 0 ? 0 : skipped
    // Who is late with everything is not waited for.
    guard skipped < count else { return }
    states[source]?.heardAtNs = nowNs
    states[source]?.end = start + count
    let offset = (start + skipped - position) * 2
    let missing = offset + (count - skipped) * 2 - mixed.count
    if missing > 0 { mixed += [Float](repeating: 0, count: missing) }
    for index in 0..<((count - skipped) * 2) {
      mixed[offset + index] += samples[skipped * 2 + index]
    }
  }

  /// How much sound waits to be given out.
  public var bufferedNs: UInt64 {
    UInt64(mixed.count / 2) * SoundChunk.durationNs / UInt64(SoundChunk.sampleFrameCount)
  }

  /// Where the next chunk begins.
  public var positionNs: UInt64 {
    UInt64(position / SoundChunk.sampleFrameCount) * SoundChunk.durationNs
  }

  /// The next ten milliseconds, if no source that is waited for can add to them any more.
  /// - Parameter silentUntilNs: with nobody to wait for, silence is given out up to here.
  public mutating func next(nowNs: UInt64, silentUntilNs: Int64) -> PlacedChunk? {
    let awaited = states.values.filter { nowNs < $0.heardAtNs &+ $0.patienceNs }
    let ready =
      awaited.map { $0.end ?? 0 }.min()
      ?? max(position + mixed.count / 2, Self.sampleFrame(silentUntilNs))
    guard position + SoundChunk.sampleFrameCount <= ready else { return nil }
    return take()
  }

  /// The rest, chunk by chunk, when nothing follows; the last one is filled up with silence.
  public mutating func drain() -> PlacedChunk? { mixed.isEmpty ? nil : take() }

  private mutating func take() -> PlacedChunk {
    let ptsNs = positionNs
    position += SoundChunk.sampleFrameCount
    guard !mixed.isEmpty else { return PlacedChunk(chunk: .silence, ptsNs: ptsNs) }
    var samples = mixed.prefix(SoundChunk.sampleCount).map { min(max($0, -1), 1) }
    mixed.removeFirst(samples.count)
    samples += [Float](repeating: 0, count: SoundChunk.sampleCount - samples.count)
    return PlacedChunk(chunk: SoundChunk(samples), ptsNs: ptsNs)
  }

  private static func sampleFrame(_ ns: Int64) -> Int {
    // A third of a million years on either side of 0 stays countable.
    let (seconds, rest) = ns.quotientAndRemainder(dividingBy: 1_000_000_000)
    let part = Double(rest) * Double(SoundChunk.sampleRate) / 1e9
    return Int(seconds) * SoundChunk.sampleRate + Int(part.rounded())
  }
}

/// A chunk, and the place of its first sample in time. Chunks follow each other without a gap.
public struct PlacedChunk: Hashable, Sendable {
  public let chunk: SoundChunk
  public let ptsNs: UInt64

  public init(chunk: SoundChunk, ptsNs: UInt64) {
    self.chunk = chunk
    self.ptsNs = ptsNs
  }
}
