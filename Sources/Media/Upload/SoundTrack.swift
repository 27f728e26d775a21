import FrameBus
import Sound

/// The sound of one upload: its streams, each aligned with the pictures, mixed, and output in
/// chunks without gaps.
///
/// A pure calculation: it reads no stream and never waits; the caller passes in the time. A
/// `timeline` parameter is that of the pictures; it is nil if no pictures are expected, and sound
/// then has its own timeline.
package struct SoundTrack {
  /// A live stream of sound that delivers nothing for this long is treated as silent.
  package static let liveTimeoutNs: UInt64 = 300_000_000
  /// Silence is inserted only this far behind the pictures, so that sound in transit still fits.
  private static let silenceMarginNs: UInt64 = 300_000_000
  /// The most by which it is further behind, if sound is always too late, which would never be
  /// heard.
  private static let mostLatenessNs: UInt64 = 1_500_000_000
  /// The most that sound runs ahead of the pictures.
  private static let leadNs: UInt64 = 1_000_000_000
  /// The most frames of sound, and samples in total, that wait for the first picture.
  private static let earlyCount = 400
  private static let earlySampleCount = 20 * SoundChunk.sampleRate

  /// One stream of sound, by a number that the caller assigns.
  private struct Stream {
    var converter = SoundConverter()
    /// Set from its first sound on.
    var source: SoundMixer.Source?
    /// The offset to its time stamps, valid as long as both publishers live.
    var place: Place?
  }

  private struct Place {
    var offsetNs: Int64
    var generation: UInt64
    var picturesGeneration: UInt64?
  }

  /// Sound that arrived before the first picture, so that its position is not known yet.
  private struct Sound {
    var number: Int
    var timeoutNs: UInt64
    var samples: [Float]
    var ptsNs: Int64
    var capturedAtNs: UInt64
    var generation: UInt64
  }

  private var streams: [Int: Stream] = [:]
  private var mixer = SoundMixer()
  private var early: [Sound] = []

  package init() {}

  /// The duration of the buffered sound.
  package var bufferedNs: UInt64 { mixer.bufferedNs }
  /// The position of the next chunk.
  package var positionNs: UInt64 { mixer.positionNs }
  /// Sample frames that arrived too late to be mixed in.
  package var lostCount: Int { mixer.lostCount }

  // MARK: In

  /// Takes one frame's sound.
  /// - Parameters:
  ///   - number: the number of its stream.
  ///   - timeoutNs: how long chunks wait for more sound of the same stream.
  /// - Throws: if its format cannot be used; the stream is then left out.
  package mutating func take(
    _ frame: borrowing FrameLease, of number: Int, timeoutNs: UInt64, beside timeline: Timeline?,
    nowNs: UInt64
  ) throws(SoundConverter.Refusal) {
    let metadata = frame.metadata
    if metadata.flags.contains(.discontinuity) { streams[number]?.converter.restart() }
    let samples = try streams[number, default: Stream()].converter.convert(frame)
    let sound = Sound(
      number: number, timeoutNs: timeoutNs, samples: samples, ptsNs: metadata.ptsNs,
      capturedAtNs: metadata.capturedAtNs, generation: frame.generation)
    if add(sound, beside: timeline, nowNs) { return }
    early.append(sound)
    var sampleCount = early.reduce(0) { $0 + $1.samples.count }
    while early.count > Self.earlyCount || sampleCount > Self.earlySampleCount {
      sampleCount -= early.removeFirst().samples.count
    }
  }

  /// Announces sound of a lossless stream: from now on chunks wait for it, although pictures arrive
  /// first.
  package mutating func expect(_ number: Int, timeoutNs: UInt64, nowNs: UInt64) {
    if streams[number]?.source != nil { return }
    streams[number, default: Stream()].source = mixer.addSource(
      timeoutNs: timeoutNs, nowNs: nowNs)
  }

  /// Ends a stream: chunks no longer wait for it.
  package mutating func end(_ number: Int) {
    if let source = streams[number]?.source { mixer.removeSource(source) }
    streams[number]?.source = nil
    streams[number]?.place = nil
  }

  /// Adds sound at its position.
  /// - Returns: false if the position is not known yet.
  private mutating func add(_ sound: Sound, beside timeline: Timeline?, _ nowNs: UInt64) -> Bool {
    guard let place = place(of: sound, beside: timeline) else { return false }
    streams[sound.number]?.place = place
    let source =
      streams[sound.number]?.source
      ?? mixer.addSource(timeoutNs: sound.timeoutNs, nowNs: nowNs)
    streams[sound.number]?.source = source
    let (atNs, isOverflown) = sound.ptsNs.addingReportingOverflow(place.offsetNs)
    if !isOverflown { mixer.add(sound.samples, atNs: atNs, from: source, nowNs: nowNs) }
    return true
  }

  private func place(of sound: Sound, beside timeline: Timeline?) -> Place? {
    let pictures = timeline?.generation
    if let place = streams[sound.number]?.place, place.generation == sound.generation,
      place.picturesGeneration == pictures
    {
      return place
    }
    guard let offsetNs = offsetNs(of: sound, beside: timeline) else { return nil }
    return Place(
      offsetNs: offsetNs, generation: sound.generation, picturesGeneration: pictures)
  }

  private func offsetNs(of sound: Sound, beside timeline: Timeline?) -> Int64? {
    if let timeline {
      return timeline.soundOffsetNs(ptsNs: sound.ptsNs, capturedAtNs: sound.capturedAtNs)
    }
    // Sound alone starts at its first sample; all streams then share one clock.
    return streams.values.lazy.compactMap(\.place?.offsetNs).first ?? (0 &- sound.ptsNs)
  }

  // MARK: Out

  /// The next chunk, if it is complete and not too far ahead of the pictures.
  /// - Parameter fillsGaps: whether to fill with silence where no stream has sound.
  package mutating func next(
    beside timeline: Timeline?, fillsGaps: Bool, nowNs: UInt64
  ) -> PlacedChunk? {
    if let timeline, timeline.generation == nil { return nil }
    settle(beside: timeline, nowNs)
    guard let timeline else { return mixer.next(nowNs: nowNs, silentUntilNs: .min) }
    let picturesNs = timeline.lastNs
    guard mixer.positionNs < UInt64(clamping: picturesNs) + Self.leadNs else { return nil }
    let marginNs = Self.silenceMarginNs + min(mixer.latenessNs, Self.mostLatenessNs)
    return mixer.next(
      nowNs: nowNs, silentUntilNs: fillsGaps ? picturesNs &- Int64(marginNs) : .min)
  }

  /// After the last input: the remaining sound, chunk by chunk, up to the end of the pictures.
  package mutating func drain(beside timeline: Timeline?) -> PlacedChunk? {
    let hasPictures = timeline?.generation != nil
    let endNs = hasPictures ? UInt64(clamping: timeline?.lastNs ?? 0) : UInt64.max
    return mixer.positionNs < endNs ? mixer.drain() : nil
  }

  /// Adds the sound that arrived before the first picture.
  private mutating func settle(beside timeline: Timeline?, _ nowNs: UInt64) {
    let waiting = early
    early = []
    for sound in waiting { _ = add(sound, beside: timeline, nowNs) }
  }
}
