import Platform
import Testing

@testable import Sound

@Suite struct ResamplerTests {
  /// A tone of one second; the right channel is inverted.
  private func tone(_ hertz: Double, rate: Int) -> [Float] {
    (0..<rate).flatMap { index in
      let value = Float(0.5 * sine(2 * .pi * hertz * Double(index) / Double(rate)))
      return [value, -value]
    }
  }

  private func convert(_ input: [Float], rate: Int, by pieceLength: Int) -> [Float] {
    var resampler = Resampler(from: rate)
    var output: [Float] = []
    var rest = input[...]
    while !rest.isEmpty {
      output += resampler.process(Array(rest.prefix(pieceLength * 2)))
      rest = rest.dropFirst(pieceLength * 2)
    }
    return output + resampler.finish()
  }

  @Test(arguments: [8_000, 11_025, 44_100, 96_000])
  func toneKeepsItsFrequencyAndTime(rate: Int) {
    let output = convert(tone(1_000, rate: rate), rate: rate, by: 441)
    #expect(abs(output.count / 2 - 48_000) <= 200)
    var largest: Float = 0
    // Without the ends, where the tone starts and stops.
    for index in 2_000..<46_000 {
      let wanted = Float(0.5 * sine(2 * .pi * 1_000 * Double(index) / 48_000))
      largest = max(largest, abs(output[2 * index] - wanted))
      largest = max(largest, abs(output[2 * index + 1] + wanted))
    }
    #expect(largest < 0.002)
  }

  @Test func frequenciesAboveTheLowerRateAreRemoved() {
    let output = convert(tone(30_000, rate: 96_000), rate: 96_000, by: 1_024)
    #expect(output.dropFirst(4_000).dropLast(4_000).allSatisfy { abs($0) < 0.001 })
  }

  @Test(arguments: [100.0, 5_000, 15_000, 18_000, 20_000])
  func distortionOfAToneIsEightyFiveDecibelsBelowIt(hertz: Double) {
    let output = convert(tone(hertz, rate: 44_100), rate: 44_100, by: 480)
    let wanted = (0..<48_000).map { 0.5 * sine(2 * .pi * hertz * Double($0) / 48_000) }
    let rests = (4_800..<43_200).map { Double(output[2 * $0]) - wanted[$0] }
    let power = rests.reduce(0) { $0 + $1 * $1 } / Double(rests.count)
    #expect(power < 0.125 * 3e-9)
  }

  @Test(arguments: [25_000.0, 26_000, 28_000, 40_000])
  func toneAboveTheLowerRateIsInaudible(hertz: Double) {
    let output = convert(tone(hertz, rate: 96_000), rate: 96_000, by: 480)
    let rests = output.dropFirst(9_600).dropLast(9_600).map { Double($0) }
    let power = rests.reduce(0) { $0 + $1 * $1 } / Double(rests.count)
    #expect(power < 0.125 * 1e-9)
  }

  @Test func sizeOfInputPiecesMakesNoDifference() {
    let input = tone(440, rate: 44_100)
    let whole = convert(input, rate: 44_100, by: 44_100)
    for pieceLength in [1, 441, 1_024] {
      #expect(convert(input, rate: 44_100, by: pieceLength) == whole)
    }
  }

  @Test func soundAt48000HzPassesUnchanged() {
    let input = tone(440, rate: 48_000)
    #expect(convert(input, rate: 48_000, by: 480) == input)
  }
}
