import Platform
import Testing

@testable import Sound

/// From samples to chunks, and the silence gate.
@Suite struct ChunkTests {
  @Test(arguments: [1, 441, 480, 1_024])
  func piecesOfAnySizeBecomeChunksOf480InOrder(count: Int) {
    var rechunker = Rechunker()
    var taken: [Float] = []
    var stamps: [Int64] = []
    var given = 0
    while given < 4_800 {
      let piece = (given..<(given + count)).flatMap { [Float($0), -Float($0)] }
      rechunker.add(piece, ptsNs: 5_000 + Int64(given) * 1_000_000_000 / 48_000)
      given += count
      while let (chunk, ptsNs) = rechunker.next() {
        taken += chunk.samples
        stamps.append(ptsNs)
      }
    }
    #expect(taken == (0..<(given / 480 * 480)).flatMap { [Float($0), -Float($0)] })
    #expect(stamps == stamps.indices.map { 5_000 + Int64($0) * 10_000_000 })
  }

  @Test func gapRestartsChunks() {
    var rechunker = Rechunker()
    rechunker.add([Float](repeating: 1, count: 200), ptsNs: 0)
    rechunker.add([Float](repeating: 0.5, count: 960), ptsNs: 1_000_000_000)
    let next = rechunker.next()
    #expect(next?.ptsNs == 1_000_000_000)
    #expect(next?.chunk == SoundChunk([Float](repeating: 0.5, count: 960)))
    rechunker.add([0, 0], ptsNs: .min)
    let none = rechunker.next()
    #expect(none == nil)
  }

  @Test func silenceStopsAfter800ChunksAndSoundPassesAtOnce() {
    var gate = SilenceGate()
    var passed = 0
    for _ in 0..<2_000 where gate.passes(isSilent: true) { passed += 1 }
    #expect(passed == 800)
    // Sound opens the gate and resets the count.
    let reopened = [false, true].map { gate.passes(isSilent: $0) }
    #expect(reopened == [true, true])
  }

  @Test func gateLimitCanBeSetOrDisabled() {
    var short = SilenceGate(limit: 2)
    let passed = (0..<4).map { _ in short.passes(isSilent: true) }
    #expect(passed == [true, true, false, false])
    var open = SilenceGate(limit: nil)
    for _ in 0..<2_000 where !open.passes(isSilent: true) { Issue.record("silence did not pass") }
  }

  @Test func toneIsExactAcrossChunksAndSeconds() {
    let tone = Tone(hertz: 440.5)
    for second in [0, 3, 100_000] {
      let startNs = UInt64(second) * 1_000_000_000
      let samples = (0..<200).flatMap { tone.chunk(atNs: startNs + $0 * 10_000_000).samples }
      let day = Double(second % 86_400)
      for index in stride(from: 0, to: 96_000, by: 997) {
        let wanted = 0.5 * sine(2 * .pi * 440.5 * (day + Double(index) / 48_000))
        #expect(abs(Double(samples[2 * index]) - wanted) < 1e-5)
        #expect(samples[2 * index] == samples[2 * index + 1])
      }
    }
  }

  @Test func beepLastsForTheFirstTenthOfASecond() {
    let beep = Tone(hertz: 1_000, rhythm: .everySecond)
    let heard = (0..<200).map { !beep.chunk(atNs: 7_000_000_000 + $0 * 10_000_000).isSilent }
    #expect(heard == (0..<200).map { $0 % 100 < 10 })
  }
}
