import FrameBus
import TestSupport
import Testing

@Suite struct AudioTests {
  @Test func soundArrivesWithItsFormatAndItsNumberOfSampleFrames() throws {
    let world = try World()
    let sound = try AudioFormat(.s16le, sampleRate: 48_000, channelCount: 2)
    let format = try FrameFormat.audio(.appAudio, sound, maximumSampleFrameCount: 960)
    var publisher = try Publisher(world.stream, in: world.group, format: format)
    var subscriber = try world.subscriber(.keepLatest(2))
    for count in [480, 960] {
      let loan = try publisher.loan()
      loan.publish(byteCount: count * 4)
      guard let lease = try subscriber.poll() else {
        Issue.record("no frame of \(count)")
        return
      }
      #expect(lease.format == format)
      #expect(lease.sampleFrameCount == count)
    }
  }

  @Test func encodedFramesDifferInSizeUpToTheirFormats() throws {
    let world = try World()
    let format = try FrameFormat.encoded(
      .opus, as: .micAudio, maximumByteCount: 1275,
      audio: try AudioFormat(.f32le, sampleRate: 48_000, channelCount: 2))
    var publisher = try Publisher(world.stream, in: world.group, format: format)
    var subscriber = try world.subscriber(.keepLatest(2))
    for count in [1, 1275, 0] {
      let loan = try publisher.loan()
      loan.publish(byteCount: count)
      guard let lease = try subscriber.poll() else {
        Issue.record("no frame of \(count)")
        return
      }
      #expect(lease.byteCount == count)
      #expect(lease.sampleFrameCount == nil)
    }
  }

  @Test func halfASampleFrameIsNoFrameOfSound() async throws {
    await #expect(processExitsWith: .success) { try publishSound(byteCount: 4 * 480) }
    await #expect(processExitsWith: .failure) { try publishSound(byteCount: 4 * 480 + 2) }
  }

  @Test(arguments: SampleFormat.allCases, [true, false])
  func channelsLieApartAndFillThePayload(_ sample: SampleFormat, _ isInterleaved: Bool) throws {
    for channelCount in 1...5 {
      let sound = try AudioFormat(
        sample, sampleRate: 48_000, channelCount: channelCount, isInterleaved: isInterleaved)
      let byteCount = sound.sampleFrameBytes * 7
      #expect(sound.sampleFrameCount(inBytes: byteCount) == 7)
      var covered = Array(repeating: 0, count: byteCount)
      for channel in 0..<channelCount {
        let plane = sound.plane(ofChannel: channel, inBytes: byteCount)
        for index in 0..<7 {
          for byte in 0..<sample.byteCount {
            covered[plane.offset + index * plane.stride + byte] += 1
          }
        }
      }
      #expect(covered.allSatisfy { $0 == 1 })
    }
  }

  @Test func soundThatCannotBeIsRefused() throws {
    #expect(throws: FrameFormatError.wrongSound(sampleRate: 0, channelCount: 2)) {
      _ = try AudioFormat(.s16le, sampleRate: 0, channelCount: 2)
    }
    #expect(throws: FrameFormatError.wrongSound(sampleRate: 48_000, channelCount: 1)) {
      _ = try AudioFormat(.s16le, sampleRate: 48_000, channelCount: 1, channelMask: .stereo)
    }
    #expect(throws: FrameFormatError.wrongKind(.video, .pcm)) {
      let sound = try AudioFormat(.s16le, sampleRate: 48_000, channelCount: 1)
      _ = try FrameFormat.audio(.video, sound, maximumSampleFrameCount: 1)
    }
    #expect(throws: FrameFormatError.wrongKind(.appAudio, .pcm)) {
      _ = try FrameFormat.encoded(.pcm, as: .appAudio, maximumByteCount: 8)
    }
    let sound = try AudioFormat(.f64be, sampleRate: 8000, channelCount: 256)
    #expect(throws: FrameFormatError.wrongByteCount(.max)) {
      _ = try FrameFormat.audio(.appAudio, sound, maximumSampleFrameCount: .max / 4)
    }
  }

  @Test func durationsAreThoseOfTheSampleFrames() throws {
    let sound = try AudioFormat(.s16le, sampleRate: 44_100, channelCount: 2)
    #expect(sound.durationNs(ofSampleFrames: 441) == 10_000_000)
    #expect(sound.durationNs(ofSampleFrames: 1) == 22_675)
    #expect(sound.durationNs(ofSampleFrames: 44_100 * 7200 + 1) == 7_200_000_022_675)
  }
}

private func publishSound(byteCount: Int) throws {
  let world = try World()
  let sound = try AudioFormat(.s16le, sampleRate: 48_000, channelCount: 2)
  let format = try FrameFormat.audio(.appAudio, sound, maximumSampleFrameCount: 960)
  var publisher = try Publisher(world.stream, in: world.group, format: format)
  try publisher.loan().publish(byteCount: byteCount)
}
