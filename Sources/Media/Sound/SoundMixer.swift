/// Mixes several sources of stereo sound at 48,000 sample frames a second into chunks without gaps.
///
/// Each piece of sound has a start time. A piece that starts within 20 ms of its source's previous
/// end continues it without a seam, because time stamps jitter and samples do not. Gaps are filled
/// with silence; sound for a time that has already been returned is lost.
///
/// A pure calculation: the caller passes in the time.
public struct SoundMixer {
  /// Identifies a source of one mixer.
  public struct Source: Hashable, Sendable {
    fileprivate let number: Int
  }

  private struct State {
    /// The sample frame after its last one; nil before the first.
    var end: Int?
    var heardAtNs: UInt64
    /// How long chunks wait for this source after its last sound.
    var timeoutNs: UInt64
    /// By how much its newest sound came too late, and how much of it did, in sample frames.
    var lateRun = (lateness: 0, count: 0)
    /// How late its sound is that is always too late.
    var lateness = 0
    /// Until when chunks wait for sound that is always too late, so that it is heard.
    var heldUntilNs: UInt64 = 0
    /// The sound in time since then, and by how much it preceded silence in its place, at least.
    var timelyRun = (margin: Int.max, count: 0)

    mutating func noteLate(_ late: Int, _ count: Int, nowNs: UInt64) {
      timelyRun = (.max, 0)
      let wasAlways = lateRun.count >= SoundMixer.alwaysLate
      lateRun = (max(lateRun.lateness, late), lateRun.count + count)
      guard lateRun.count >= SoundMixer.alwaysLate else { return }
      lateness = max(lateness, lateRun.lateness)
      // It catches up while no chunk is returned, but only if its times advance as the clock does.
      if !wasAlways { heldUntilNs = nowNs &+ SoundMixer.mostLatenessNs }
      if nowNs <= heldUntilNs, late <= SoundMixer.mostLateness { heardAtNs = nowNs }
    }

    mutating func noteTimely(_ margin: Int, _ count: Int) {
      lateRun = (0, 0)
      timelyRun = (min(timelyRun.margin, margin), timelyRun.count + count)
      guard timelyRun.count >= SoundMixer.timelyAgain else { return }
      lateness -= min(lateness, max(0, timelyRun.margin - SoundMixer.reserve))
      timelyRun = (.max, 0)
    }
  }

  /// How far a time stamp may differ from the count of samples: 20 ms.
  private static let tolerance = 960
  /// How far ahead of the newest chunk sound is kept: 20 s. Sound with a later time is lost.
  private static let horizon = 960_000
  /// As much sound as this, all of it too late, is not a single delay: half a second.
  private static let alwaysLate = 24_000
  /// After as much sound that was in time, a delay has ended: five seconds.
  private static let timelyAgain = 240_000
  /// What remains of a delay beyond the margin, because time stamps jitter: 0.1 s.
  private static let reserve = 4_800
  /// The longest delay of a source that others wait for: 1.5 s.
  private static let mostLateness = 72_000
  private static let mostLatenessNs: UInt64 = 1_500_000_000

  private var states: [Source: State] = [:]
  private var nextNumber = 0
  /// The position of the first sample frame in `mixed`.
  private var position = 0
  private var mixed: [Float] = []
  /// Up to where silence was allowed last; nil if it was not.
  private var silentUntil: Int?
  /// Sample frames that were too late or too far ahead.
  public private(set) var lostCount = 0

  public init() {}

  /// - Parameter timeoutNs: timeout after the source's last sound; until then chunks wait for it.
  public mutating func addSource(timeoutNs: UInt64, nowNs: UInt64) -> Source {
    nextNumber += 1
    let source = Source(number: nextNumber)
    states[source] = State(heardAtNs: nowNs, timeoutNs: timeoutNs)
    return source
  }

  /// Removes a source: it can add nothing more, and chunks do not wait for it.
  public mutating func removeSource(_ source: Source) { states[source] = nil }

  /// Adds sound at its time.
  /// - Parameter atNs: time of the first sample; sound before 0 is left out.
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
    // A source whose sound is entirely late extends its timeout only if it always is.
    guard skipped < count else {
      if start >= 0 { states[source]?.noteLate(position - start, count, nowNs: nowNs) }
      return
    }
    states[source]?.noteTimely(silentUntil.map { start - $0 } ?? .max, count)
    states[source]?.heardAtNs = nowNs
    states[source]?.end = start + count
    let offset = (start + skipped - position) * 2
    let missing = offset + (count - skipped) * 2 - mixed.count
    if missing > 0 { mixed += [Float](repeating: 0, count: missing) }
    for index in 0..<((count - skipped) * 2) {
      mixed[offset + index] += samples[skipped * 2 + index]
    }
  }

  /// The length of the sound that is buffered.
  public var bufferedNs: UInt64 {
    UInt64(mixed.count / 2) * SoundChunk.durationNs / UInt64(SoundChunk.sampleFrameCount)
  }

  /// How late the sound of a source is that came too late for half a second, so that none of it was
  /// mixed. It falls when the source has been in time for five seconds.
  public var latenessNs: UInt64 {
    let lateness = states.values.map(\.lateness).max() ?? 0
    return UInt64(lateness) * SoundChunk.durationNs / UInt64(SoundChunk.sampleFrameCount)
  }

  /// The time of the next chunk.
  public var positionNs: UInt64 {
    UInt64(position / SoundChunk.sampleFrameCount) * SoundChunk.durationNs
  }

  /// Returns the next ten milliseconds, unless a source within its timeout can still add to them.
  /// - Parameter silentUntilNs: if no source is within its timeout, silence is returned up to here.
  public mutating func next(nowNs: UInt64, silentUntilNs: Int64) -> PlacedChunk? {
    silentUntil = silentUntilNs == .min ? nil : Self.sampleFrame(silentUntilNs)
    let awaited = states.values.filter { nowNs < $0.heardAtNs &+ $0.timeoutNs }
    let ready =
      awaited.map { $0.end ?? 0 }.min()
      ?? max(position + mixed.count / 2, Self.sampleFrame(silentUntilNs))
    guard position + SoundChunk.sampleFrameCount <= ready else { return nil }
    return take()
  }

  /// Returns the remaining chunks at the end; the last one is padded with silence.
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
    // A range of 300,000 years on either side of 0 fits.
    let (seconds, rest) = ns.quotientAndRemainder(dividingBy: 1_000_000_000)
    let part = Double(rest) * Double(SoundChunk.sampleRate) / 1e9
    return Int(seconds) * SoundChunk.sampleRate + Int(part.rounded())
  }
}

/// A chunk and the time of its first sample. Chunks follow each other without a gap.
public struct PlacedChunk: Hashable, Sendable {
  public let chunk: SoundChunk
  public let ptsNs: UInt64

  public init(chunk: SoundChunk, ptsNs: UInt64) {
    self.chunk = chunk
    self.ptsNs = ptsNs
  }
}
