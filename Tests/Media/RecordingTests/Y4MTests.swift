import AppGroup
import Capture
import Foundation
import FrameBus
import Platform
import TestSupport
import Testing

@testable import Recording

/// `framebus play`, compared with its input and with ffmpeg.
@Suite struct Y4MTests {
  private func y4m(_ studio: Studio, _ pixels: String, _ size: String) throws -> [UInt8] {
    try output(
      of: "ffmpeg",
      ["-v", "error", "-f", "lavfi", "-i", "testsrc2=size=\(size):rate=25:duration=1"]
        + ["-pix_fmt", pixels, "-f", "yuv4mpegpipe", studio.file("in.y4m")])
    return [UInt8](try Data(contentsOf: URL(fileURLWithPath: studio.file("in.y4m"))))
  }

  /// The bytes after the first line.
  private func frames(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
    bytes[(bytes.firstIndex(of: 10) ?? 0)...]
  }

  @Test(arguments: [
    ("yuv420p", "320x240"), ("yuv420p", "321x241"), ("yuv422p", "65x33"), ("yuv444p", "64x64"),
    ("gray", "33x7"),
  ])
  func framesArePlayedByteForByte(pixels: String, size: String) throws {
    let studio = try Studio()
    let original = try y4m(studio, pixels, size)
    let capture = try studio.start(["capture", "y4m:\(studio.file("in.y4m"))", "--stream", "film"])
    let recorder = try studio.start(["record", "film", studio.file("a.rec")])
    #expect(try recorder.finish().status == .exited(0))
    try capture.finish()
    let player = try studio.run("play", studio.file("a.rec"))
    #expect(frames(player.output.bytes) == frames(original))
    // Also directly from the stream, which waits for its first subscriber.
    let again = try studio.start(["capture", "y4m:\(studio.file("in.y4m"))", "--stream", "film"])
    let live = try playWhenThere("film", studio)
    #expect(try again.finish().status == .exited(0))
    #expect(frames(live) == frames(original))
    try Data(live).write(to: URL(fileURLWithPath: studio.file("out.y4m")))
    let facts = try output(
      of: "ffprobe",
      ["-v", "error", "-count_frames", "-show_entries", "stream=pix_fmt,nb_read_frames"]
        + ["-of", "csv=p=0", studio.file("out.y4m")])
    #expect(facts == "\(pixels),25\n")
  }

  @Test func rgbIsConvertedAsFfmpegDoes() throws {
    let studio = try Studio()
    let capture = try studio.start(
      ["capture", "test:noise", "--size", "64x48", "--fps", "100", "--frames", "8"])
    try studio.run("record", "screen", studio.file("a.rec"), "--frames", "4")
    capture.process.end()
    let player = try studio.run("play", studio.file("a.rec"))
    let ours = try Y4M(player.output.bytes, frameBytes: 64 * 48 * 3)
    #expect(ours.header == "YUV4MPEG2 W64 H48 F100:1 Ip C444")
    let raw = try studio.run("play", "--raw", studio.file("a.rec")).output.bytes
    try Data(raw).write(to: URL(fileURLWithPath: studio.file("raw")))
    let judge = try RunningProgram(
      "ffmpeg",
      ["-v", "error", "-f", "rawvideo", "-pix_fmt", "bgr0", "-s", "64x48"]
        + ["-i", studio.file("raw"), "-sws_flags", "accurate_rnd+full_chroma_int+bitexact"]
        + ["-pix_fmt", "yuv444p", "-f", "rawvideo", "-"])
    try judge.finish()
    let theirs = judge.output.bytes
    #expect(theirs.count == 4 * 64 * 48 * 3)
    let difference = zip(ours.frames.joined(), theirs).map { abs(Int($0) - Int($1)) }.max()
    #expect(difference ?? .max <= 1)
  }

  @Test func everyFrameKeepsItsNumber() throws {
    let studio = try Studio()
    let capture = try studio.start(["capture", "test", "--size", "320x240", "--fps", "200"])
    try studio.run("record", "screen", studio.file("a.rec"), "--frames", "60")
    capture.process.end()
    let player = try studio.run("play", studio.file("a.rec"))
    let pictures = try Y4M(player.output.bytes, frameBytes: 320 * 240 * 3).frames
    let reader = try RecordingReader(path: studio.file("a.rec"))
    #expect(pictures.count == 60)
    for (index, picture) in pictures.enumerated() {
      let mark = TestPatternMark(width: 320, height: 240) { x, y in
        picture[picture.startIndex + y * 320 + x]
      }
      #expect(mark?.sequence == UInt32(try reader.frame(index + 1).sequence.rawValue))
    }
  }

  /// A frame of the stream, without the line before it.
  private func frame(of writer: Y4MWriter, _ bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    // SAFETY: bytes have no padding.
    unsafe writer.write(bytes.span.bytes, into: &result)
    return Array(result.dropFirst(6))
  }

  /// The equations of BT.601-7, section 2.5, without rounding.
  @Test(
    arguments: [
      (FourCC.xrgb8888, "BGRx"), (.argb8888, "BGRx"), (.xbgr8888, "RGBx"), (.rgbx8888, "xBGR"),
      (.bgrx8888, "xRGB"), (.rgb888, "BGR"), (.bgr888, "RGB"),
    ], [1, 15, 16, 17, 50])
  func rgbBecomesTheNearestValues(layout: (fourcc: FourCC, bytes: String), width: Int) throws {
    let format = try FrameFormat.video(layout.fourcc, width: width, height: 3)
    let seed = TestSeed(for: "rgbBecomesTheNearestValues")
    var random = seed.generator
    let bytes = (0..<format.byteCount).map { _ in UInt8.random(in: 0...255, using: &random) }
    let planes = frame(of: try Y4MWriter(format), bytes)
    let order = Array(layout.bytes)
    for (index, pixel) in (0..<3 * width).enumerated() {
      let start = pixel / width * format.planes[0].stride + pixel % width * order.count
      func color(_ name: Character) throws -> Double {
        Double(bytes[start + (try #require(order.firstIndex(of: name)))]) / 255
      }
      let (red, green, blue) = try (color("R"), color("G"), color("B"))
      let luma = 0.299 * red + 0.587 * green + 0.114 * blue
      let exact = [
        16 + 219 * luma, 128 + 224 * (blue - luma) / 1.772, 128 + 224 * (red - luma) / 1.402,
      ]
      for (plane, value) in exact.enumerated() {
        #expect(abs(Double(planes[plane * 3 * width + index]) - value) < 0.53, "\(seed)")
      }
    }
  }

  @Test func planesOfATurnedPictureInRGBAreTurned() throws {
    let format = try FrameFormat.video(.xrgb8888, width: 2, height: 1)
    let bytes: [UInt8] = [0, 0, 255, 0, 0, 255, 0, 0]
    let upright = frame(of: try Y4MWriter(format), bytes)
    #expect(upright == [81, 145, 90, 54, 240, 34])
    let turned = frame(of: try Y4MWriter(format, orientation: .down), bytes)
    #expect(turned == [145, 81, 54, 90, 34, 240])
  }

  @Test(arguments: [
    (FourCC.yuv420, 320, 240, 115_200), (.yuv444, 12, 5, 180), (.r8, 16, 3, 48),
    (.s010, 32, 4, 384),
  ])
  func aPictureLikeTheStreamsIsWrittenFromWhereItLies(
    fourcc: FourCC, width: Int, height: Int, byteCount: Int
  ) throws {
    let format = try FrameFormat.video(fourcc, width: width, height: height)
    let writer = try Y4MWriter(format)
    #expect(writer.unchangedByteCount == byteCount)
    let bytes = (0..<format.byteCount).map { UInt8(truncatingIfNeeded: $0) }
    #expect(frame(of: writer, bytes) == Array(bytes.prefix(byteCount)))
  }

  /// Padded rows, a padded plane, planes in another order, a turned picture, one to rearrange.
  @Test(arguments: [
    (FourCC.yuv420, 322, 240, Orientation.up), (.yuv420, 320, 241, .up), (.yvu420, 320, 240, .up),
    (.yuv420, 320, 240, .down), (.nv12, 320, 240, .up),
  ])
  func anotherPictureIsNot(
    fourcc: FourCC, width: Int, height: Int, orientation: Orientation
  ) throws {
    let format = try FrameFormat.video(fourcc, width: width, height: height)
    #expect(try Y4MWriter(format, orientation: orientation).unchangedByteCount == nil)
  }

  @Test func nonPlanarLayoutsAreRearranged() throws {
    func planes(_ fourcc: FourCC, _ bytes: [UInt8]) throws -> [UInt8] {
      let format = try FrameFormat.video(fourcc, width: 4, height: 2)
      let padded = bytes + [UInt8](repeating: 0, count: max(0, format.byteCount - bytes.count))
      return frame(of: try Y4MWriter(format), padded)
    }
    let luma: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]
    #expect(try planes(.nv12, luma + [10, 20, 11, 21]) == luma + [10, 11, 20, 21])
    #expect(try planes(.nv21, luma + [20, 10, 21, 11]) == luma + [10, 11, 20, 21])
    let yuyv: [UInt8] = [1, 10, 2, 20, 3, 11, 4, 21, 5, 12, 6, 22, 7, 13, 8, 23]
    #expect(try planes(.yuyv, yuyv) == luma + [10, 11, 12, 13, 20, 21, 22, 23])
    let uyvy: [UInt8] = [10, 1, 20, 2, 11, 3, 21, 4, 12, 5, 22, 6, 13, 7, 23, 8]
    #expect(try planes(.uyvy, uyvy) == luma + [10, 11, 12, 13, 20, 21, 22, 23])
  }

  @Test func recordingIsPublishedAgainUnchanged() throws {
    let studio = try Studio()
    let worker = try studio.worker("lossless=1", "frames=40", "grow=21", "wait=1")
    try studio.run("record", "screen", studio.file("a.rec"))
    try worker.finish()
    let player = try studio.start(["play", studio.file("a.rec"), "--to-stream", "again"])
    try studio.run("record", "again", studio.file("b.rec"))
    #expect(try player.finish().status == .exited(0))
    let (first, second) = try (
      RecordingReader(path: studio.file("a.rec")), RecordingReader(path: studio.file("b.rec"))
    )
    #expect(second.index.count == 40)
    for number in 1...40 {
      let (before, after) = try (first.frame(number), second.frame(number))
      #expect(after.format == before.format)
      #expect(after.metadata.ptsNs == before.metadata.ptsNs)
    }
    let raws = try ["a.rec", "b.rec"].map {
      try studio.run("play", "--raw", studio.file($0)).output.bytes
    }
    #expect(raws[0] == raws[1])
  }

  @Test func playbackClockFollowsTheTimeStamps() {
    var clock = PlaybackClock()
    #expect(clock.due(ptsNs: 500, nowNs: 1000) == Deadline(monotonicNs: 1000))
    #expect(clock.due(ptsNs: 700, nowNs: 1050) == Deadline(monotonicNs: 1200))
    // A step back, and one too far ahead, are cuts.
    #expect(clock.due(ptsNs: 100, nowNs: 1300) == Deadline(monotonicNs: 1300))
    #expect(clock.due(ptsNs: .max, nowNs: 1400) == Deadline(monotonicNs: 1400))
    #expect(clock.due(ptsNs: .min, nowNs: 1500) == Deadline(monotonicNs: 1500))
  }

  @Test func soundIsRecordedAndPlaysOnlyAsBytes() throws {
    let studio = try Studio()
    let sound = try AudioFormat(.s16le, sampleRate: 48_000, channelCount: 2)
    let format = try FrameFormat(
      kind: .appAudio, fourcc: .pcm, width: 0, height: 0, planes: [], byteCount: 1920, audio: sound)
    var options = PublisherOptions()
    options.allowsLossless = true
    options.ringDepth = 8
    var publisher = try Publisher(
      StreamName("audio.app"), in: studio.group, format: format, options: options)
    let recorder = try studio.start(["record", "audio.app", studio.file("a.rec")])
    let hasCome = publisher.waitForSubscriber(until: .after(.seconds(60)))
    #expect(hasCome)
    for number in 1...100 as ClosedRange<UInt8> {
      var loan = try publisher.loan(waitingUntil: .never)
      var bytes = loan.bytes
      for offset in 0..<1920 { bytes.storeBytes(of: number, toByteOffset: offset, as: UInt8.self) }
      loan.publish(byteCount: number == 100 ? 960 : 1920)
    }
    publisher.finish(.ended)
    #expect(try recorder.finish().status == .exited(0))
    #expect(try RecordingReader(path: studio.file("a.rec")).frame(1).format == format)
    let raw = try studio.run("play", "--raw", studio.file("a.rec")).output.bytes
    #expect(raw.count == 99 * 1920 + 960)
    #expect(raw.last == 100)
    let refused = try studio.start(["play", studio.file("a.rec")]).finish()
    #expect(refused.status == .exited(1))
    #expect(refused.errors.contains("y4m is for pictures, and this is appAudio: use --raw"))
  }

  @Test(arguments: [
    ["play", "nothing", "--realtime"], ["play", "no/such", "--from", "0"], ["play", "No Name"],
    ["play", "a/b", "--raw", "--to-stream", "c"], ["record", "No Name", "x"],
    ["record", "a", "x", "--policy", "most"], ["record", "a", "x", "--frames", "0"],
  ])
  func wrongUsageHasStatus2(arguments: [String]) throws {
    let result = try Studio().start(arguments).finish()
    #expect(result.status == .exited(2), "\(result.errors)")
    #expect(result.errors.hasPrefix("error: "))
  }

  @Test func playDoesNotWaitForAnUnknownStream() throws {
    let studio = try Studio()
    let result = try studio.start(["play", "nothing"]).finish()
    #expect(result.status == .exited(1))
    #expect(result.errors.hasPrefix("error: nobody publishes stream “nothing”"))
    withExtendedLifetime(studio) {}
  }

  /// Plays a stream as soon as it is published.
  private func playWhenThere(_ stream: String, _ studio: Studio) throws -> [UInt8] {
    let deadline = Deadline.after(.seconds(60))
    while !deadline.isPast {
      let player = try studio.start(["play", stream])
      if try player.finish().status == .exited(0) { return player.output.bytes }
    }
    throw HarnessError("stream \(stream) never came")
  }

  @Test func picturesAboveTheHighestH264LevelAreNotConverted() throws {
    let format = try FrameFormat.video(.r8, width: 8192, height: 4368)
    #expect(throws: Y4MWriterError.tooLarge(format)) { try Y4MWriter(format) }
    #expect("\(Y4MWriterError.tooLarge(format))".contains("8192×4368"))
  }

  /// A picture of 6 × 4 whose upper left corner, once upright, is 200.
  @Test(
    arguments: [FourCC.yuv420, .yuv422, .nv12, .yuyv, .yuv444, .r8, .s210], Orientation.allCases)
  func picturesAreWrittenUpright(fourcc: FourCC, orientation: Orientation) throws {
    let format = try FrameFormat.video(
      fourcc, width: orientation.swapsSides ? 4 : 6, height: orientation.swapsSides ? 6 : 4)
    let sampleBytes = fourcc == .s210 ? 2 : 1
    let step = fourcc == .yuyv ? 2 : sampleBytes
    var bytes = [UInt8](repeating: 0, count: format.byteCount)
    let number = orientation.rawValue
    let row = [3, 4, 6, 7].contains(number) ? format.height - 1 : 0
    let column = [2, 3, 7, 8].contains(number) ? format.width - 1 : 0
    let plane = format.planes[0]
    bytes[plane.offset + row * plane.stride + column * step] = 200
    let writer = try Y4MWriter(format, orientation: orientation)
    let frame = frame(of: writer, bytes)
    #expect(String(decoding: writer.header, as: UTF8.self).hasPrefix("YUV4MPEG2 W6 H4 "))
    #expect(frame.first == 200)
    #expect(frame.count { $0 == 200 } == 1)
    // The header's size is that of the picture.
    let facts = String(decoding: writer.header, as: UTF8.self)
    let chroma = facts.contains("C444") ? 48 : facts.contains("C422") ? 24 : 12
    #expect(frame.count == (fourcc == .r8 ? 24 : (24 + chroma) * sampleBytes))
  }
}
