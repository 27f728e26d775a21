import Testing

@testable import Sound

@Suite struct MixerTests {
  private let tenMs: Int64 = 10_000_000

  private func samples(_ count: Int, _ value: Float = 0.25) -> [Float] {
    [Float](repeating: value, count: count * 2)
  }

  private func all(_ mixer: inout SoundMixer, nowNs: UInt64 = 0) -> [PlacedChunk] {
    var chunks: [PlacedChunk] = []
    while let placed = mixer.next(nowNs: nowNs, silentUntilNs: .min) { chunks.append(placed) }
    return chunks
  }

  @Test(arguments: [1, 441, 480, 1_024, 48_000])
  func inputOfAnySizeBecomesChunksOf480(count: Int) {
    var mixer = SoundMixer()
    let source = mixer.addSource(timeoutNs: 1_000, nowNs: 0)
    var given: [Float] = []
    var taken: [Float] = []
    var stamps: [UInt64] = []
    var next: Float = 0
    for piece in 0..<(count == 1 ? 1_000 : 7) {
      let input = (0..<(count * 2)).map { _ -> Float in
        next = next < 0.9 ? next + 0.001 : -0.9
        return next
      }
      given += input
      let atNs = Int64(piece * count) * 1_000_000_000 / 48_000
      mixer.add(input, atNs: atNs, from: source, nowNs: 0)
      for placed in all(&mixer) {
        taken += placed.chunk.samples
        stamps.append(placed.ptsNs)
      }
    }
    #expect(taken.count == given.count / 960 * 960)
    #expect(taken == Array(given.prefix(taken.count)))
    #expect(stamps == stamps.indices.map { UInt64($0) * 10_000_000 })
  }

  @Test func sourcesAreAddedAndLimitedToFullScale() {
    var mixer = SoundMixer()
    let first = mixer.addSource(timeoutNs: 1_000, nowNs: 0)
    let second = mixer.addSource(timeoutNs: 1_000, nowNs: 0)
    mixer.add(samples(480), atNs: 0, from: first, nowNs: 0)
    #expect(all(&mixer).isEmpty, "waits for the second source")
    mixer.add(samples(480, 0.5), atNs: 0, from: second, nowNs: 0)
    mixer.add(samples(480, 0.9), atNs: tenMs, from: first, nowNs: 0)
    mixer.add(samples(480, 0.9), atNs: tenMs, from: second, nowNs: 0)
    let chunks = all(&mixer).map(\.chunk)
    #expect(chunks == [SoundChunk(samples(480, 0.75)), SoundChunk(samples(480, 1))])
  }

  @Test func silentSourceIsAwaitedUntilItsTimeout() {
    var mixer = SoundMixer()
    let first = mixer.addSource(timeoutNs: 1_000, nowNs: 0)
    _ = mixer.addSource(timeoutNs: 500, nowNs: 0)
    mixer.add(samples(480), atNs: 0, from: first, nowNs: 0)
    #expect(all(&mixer, nowNs: 499).isEmpty)
    #expect(all(&mixer, nowNs: 500).count == 1)
  }

  @Test func withoutSourcesSilenceIsReturnedUpToTheGivenTime() {
    var mixer = SoundMixer()
    var count = 0
    while let placed = mixer.next(nowNs: 0, silentUntilNs: 5 * tenMs) {
      #expect(placed.chunk.isSilent)
      count += 1
    }
    #expect(count == 5)
    // Later sound keeps its time; the gap is silence.
    let source = mixer.addSource(timeoutNs: 1_000, nowNs: 0)
    mixer.add(samples(480), atNs: 7 * tenMs, from: source, nowNs: 0)
    #expect(all(&mixer).map(\.chunk.isSilent) == [true, true, false])
  }

  @Test func timeStampJitterMakesNoSeamAndAJumpDoes() {
    var mixer = SoundMixer()
    let source = mixer.addSource(timeoutNs: 1_000, nowNs: 0)
    mixer.add(samples(480), atNs: 0, from: source, nowNs: 0)
    mixer.add(samples(480), atNs: tenMs + 7_000_000, from: source, nowNs: 0)
    mixer.add(samples(480), atNs: 2 * tenMs - 7_000_000, from: source, nowNs: 0)
    mixer.add(samples(480), atNs: 8 * tenMs, from: source, nowNs: 0)
    let heard = all(&mixer).map { !$0.chunk.isSilent }
    #expect(heard == [true, true, true, false, false, false, false, false, true])
  }

  @Test func soundTooLateOrTooFarAheadIsCountedAndLeftOut() {
    var mixer = SoundMixer()
    while mixer.next(nowNs: 0, silentUntilNs: 2 * tenMs) != nil {}
    let source = mixer.addSource(timeoutNs: 1_000, nowNs: 0)
    mixer.add(samples(960), atNs: tenMs, from: source, nowNs: 0)
    #expect(mixer.lostCount == 480)
    mixer.add(samples(480), atNs: .max, from: source, nowNs: 0)
    #expect(mixer.lostCount == 960)
    mixer.add(samples(480), atNs: .min, from: source, nowNs: 0)
    let chunks = all(&mixer)
    #expect(chunks.map(\.ptsNs) == [20_000_000])
    #expect(chunks.allSatisfy { $0.chunk == SoundChunk(samples(480)) })
  }

  @Test func soundThatIsTooLateForHalfASecondIsSaidToBeLate() {
    var mixer = SoundMixer()
    let source = mixer.addSource(timeoutNs: 0, nowNs: 0)
    while mixer.next(nowNs: 1, silentUntilNs: 200 * tenMs) != nil {}
    func addLate(_ chunks: Range<Int64>) {
      for chunk in chunks { mixer.add(samples(480), atNs: chunk * tenMs, from: source, nowNs: 1) }
    }
    addLate(100..<149)
    #expect(mixer.latenessNs == 0)
    // One that is not too late begins the count again.
    mixer.add(samples(480), atNs: 200 * tenMs, from: source, nowNs: 1)
    addLate(100..<149)
    #expect(mixer.latenessNs == 0)
    mixer.add(samples(480), atNs: 149 * tenMs, from: source, nowNs: 1)
    #expect(mixer.latenessNs == 1_000_000_000)
  }

  /// An application in time, and a microphone whose sound is always a second late.
  @Test func soundThatIsAlwaysLateIsHeardBesideSoundInTime() {
    var mixer = SoundMixer()
    var sources: [SoundMixer.Source] = []
    var heard: [Int64: Float] = [:]
    for step in Int64(0)..<1_000 {
      let nowNs = UInt64(step * tenMs)
      if step == 0 {
        sources = (0..<2).map { _ in mixer.addSource(timeoutNs: 300_000_000, nowNs: nowNs) }
      }
      mixer.add(samples(480), atNs: step * tenMs, from: sources[0], nowNs: nowNs)
      if step >= 100 {
        mixer.add(samples(480, 0.5), atNs: (step - 100) * tenMs, from: sources[1], nowNs: nowNs)
      }
      for placed in all(&mixer, nowNs: nowNs) {
        heard[Int64(placed.ptsNs) / tenMs] = placed.chunk.samples[0]
      }
    }
    // Half a second of it was late; while the others waited, it arrived in time.
    #expect((200..<880).allSatisfy { heard[$0] == 0.75 }, "\(heard.count)")
    #expect((0..<40).allSatisfy { heard[$0] == 0.25 })
  }

  @Test func sourceWhoseTimesStandStillIsNotAwaitedForLong() {
    var mixer = SoundMixer()
    let inTime = mixer.addSource(timeoutNs: 300_000_000, nowNs: 0)
    let stuck = mixer.addSource(timeoutNs: 300_000_000, nowNs: 0)
    var count = 0
    for step in Int64(0)..<1_000 {
      let nowNs = UInt64(step * tenMs)
      mixer.add(samples(480), atNs: step * tenMs, from: inTime, nowNs: nowNs)
      mixer.add(samples(480), atNs: 0, from: stuck, nowNs: nowNs)
      count += all(&mixer, nowNs: nowNs).count
    }
    #expect(count == 1_000)
  }

  @Test func latenessOfOneStallEnds() {
    var mixer = SoundMixer()
    let source = mixer.addSource(timeoutNs: 300_000_000, nowNs: 0)
    for step in Int64(0)..<2_500 {
      let nowNs = UInt64(step * tenMs)
      // Sound of 3.6 seconds arrives at once.
      let pieces = (100..<460).contains(step) ? 0..<0 : step == 460 ? 100..<461 : step..<step + 1
      for piece in pieces {
        mixer.add(samples(480), atNs: piece * tenMs, from: source, nowNs: nowNs)
      }
      let marginNs = 300_000_000 + Int64(min(mixer.latenessNs, 1_500_000_000))
      while mixer.next(nowNs: nowNs, silentUntilNs: step * tenMs - marginNs) != nil {}
      if step == 460 { #expect(mixer.latenessNs > 3_000_000_000) }
    }
    #expect(mixer.latenessNs == 0)
  }

  @Test func lastChunkIsPaddedWithSilence() {
    var mixer = SoundMixer()
    let source = mixer.addSource(timeoutNs: 1_000, nowNs: 0)
    mixer.add(samples(500), atNs: 0, from: source, nowNs: 0)
    #expect(all(&mixer).count == 1)
    #expect(mixer.drain()?.chunk == SoundChunk(samples(20) + samples(460, 0)))
    #expect(mixer.drain() == nil)
  }
}
