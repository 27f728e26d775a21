import FrameBus
import Testing

@testable import Sound

/// Raw samples of every format as floats.
@Suite struct SampleTests {
  private func read(
    _ bytes: [UInt8], _ format: SampleFormat, channels: Int = 1, isInterleaved: Bool = true,
    mask: ChannelMask? = nil
  ) throws -> [Float] {
    let audio = try AudioFormat(
      format, sampleRate: 48_000, channelCount: channels, channelMask: mask,
      isInterleaved: isInterleaved)
    // SAFETY: the array outlives the call.
    return unsafe SampleReader(audio).read(bytes.span.bytes)
  }

  @Test func sixteenBitSamplesAreDividedBy32768() throws {
    // −32768, 32767, 0, 1, in both byte orders.
    let little: [UInt8] = [0x00, 0x80, 0xFF, 0x7F, 0, 0, 1, 0]
    let big: [UInt8] = [0x80, 0x00, 0x7F, 0xFF, 0, 0, 0, 1]
    let wanted: [Float] = [-1, 0.999_969_5, 0, 1 / 32_768]
    for (bytes, format) in [(little, SampleFormat.s16le), (big, .s16be)] {
      let stereo = try read(bytes, format, channels: 2)
      #expect(stereo == wanted)
    }
  }

  @Test func everySampleFormatHasItsExtremesAndItsSilence() throws {
    let cases: [(SampleFormat, low: [UInt8], silence: [UInt8])] = [
      (.u8, [0], [128]), (.s8, [0x80], [0]), (.s16le, [0, 0x80], [0, 0]),
      (.s16be, [0x80, 0], [0, 0]), (.s24le, [0, 0, 0x80], [0, 0, 0]),
      (.s24be, [0x80, 0, 0], [0, 0, 0]), (.s24in32le, [0, 0, 0x80, 0x55], [0, 0, 0, 0x55]),
      (.s24in32be, [0x55, 0x80, 0, 0], [0x55, 0, 0, 0]), (.s32le, [0, 0, 0, 0x80], [0, 0, 0, 0]),
      (.s32be, [0x80, 0, 0, 0], [0, 0, 0, 0]), (.f32le, [0, 0, 0x80, 0xBF], [0, 0, 0, 0]),
      (.f32be, [0xBF, 0x80, 0, 0], [0, 0, 0, 0]),
      (.f64le, [0, 0, 0, 0, 0, 0, 0xF0, 0xBF], [0, 0, 0, 0, 0, 0, 0, 0]),
      (.f64be, [0xBF, 0xF0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0]),
    ]
    #expect(cases.map(\.0) == SampleFormat.allCases)
    for (format, low, silence) in cases {
      let stereo = try read(low + silence, format, channels: 2)
      #expect(stereo == [-1, 0], "\(format)")
    }
  }

  @Test func invalidFloatsAreSilenceAndLoudOnesAreClipped() throws {
    let values: [Float] = [.nan, .infinity, -7, 7]
    let bytes = values.flatMap { value in
      (0..<4).map { UInt8(truncatingIfNeeded: value.bitPattern >> UInt32(8 * $0)) }
    }
    #expect(try read(bytes, .f32le, channels: 2) == [0, 0, -1, 1])
  }

  @Test func planarSoundIsReadByPlanes() throws {
    #expect(
      try read([0x40, 0x20, 0xC0, 0xE0], .s8, channels: 2, isInterleaved: false)
        == [0.5, -0.5, 0.25, -0.25])
  }

  @Test func incompleteSampleFrameAtTheEndIsLeftOut() throws {
    #expect(try read([0x40, 0x20, 0x40], .s8, channels: 2) == [0.5, 0.25])
    #expect(try read([], .s8, channels: 2).isEmpty)
  }

  @Test func channelGainsFollowPositionsAndNeverSumToMoreThanOne() throws {
    // Front left, front right, center, low frequency.
    let gains = StereoGain.gains(
      of: try AudioFormat(
        .s16le, sampleRate: 48_000, channelCount: 6, channelMask: .surround51))
    #expect(gains[0].left > 0 && gains[0].right == 0)
    #expect(gains[1].left == 0 && gains[1].right > 0)
    #expect(gains[2].left == gains[2].right && gains[2].isAudible)
    #expect(!gains[3].isAudible)
    #expect(gains.reduce(0) { $0 + $1.left } <= 1.000_001)
    let mono = StereoGain.gains(of: try AudioFormat(.s16le, sampleRate: 48_000, channelCount: 1))
    #expect(mono == [StereoGain(left: 1, right: 1)])
  }

  @Test func unreadableSoundIsRefusedWithTheReason() throws {
    var converter = SoundConverter()
    let bytes: [UInt8] = [0, 0, 0, 0]
    let fast = try AudioFormat(.s16le, sampleRate: 1_000_000, channelCount: 2)
    let tooFast = try FrameFormat.audio(.appAudio, fast, maximumSampleFrameCount: 480)
    #expect(throws: SoundConverter.Refusal.wrongRate(1_000_000)) {
      // SAFETY: the array outlives the call.
      try unsafe converter.convert(bytes.span.bytes, of: tooFast)
    }
    let long = [UInt8](repeating: 0, count: 2 * 8001)
    let slow = try AudioFormat(.u8, sampleRate: 4000, channelCount: 1)
    let tooLong = try FrameFormat.audio(.appAudio, slow, maximumSampleFrameCount: long.count)
    #expect(throws: SoundConverter.Refusal.tooLong(sampleFrames: long.count)) {
      // SAFETY: the array outlives the call.
      try unsafe converter.convert(long.span.bytes, of: tooLong)
    }
    let opus = try FrameFormat.encoded(.opus, as: .appAudio, maximumByteCount: 100)
    #expect(throws: SoundConverter.Refusal.encoded(.opus)) {
      // SAFETY: the array outlives the call.
      try unsafe converter.convert(bytes.span.bytes, of: opus)
    }
  }
}
