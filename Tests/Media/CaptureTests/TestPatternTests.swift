import Foundation
import FrameBus
import TestSupport
import Testing

@testable import Capture

@Suite struct TestPatternTests {
  /// One drawn frame, and its format.
  private func frame(
    _ style: TestPatternStyle, width: Int, height: Int, sequence: UInt64, milliseconds: UInt64
  ) throws -> (format: FrameFormat, bytes: [UInt8]) {
    let format = try FrameFormat.video(
      .xrgb8888, width: width, height: height, frameRate: FrameRate(30))
    var bytes = [UInt8](repeating: 0x5A, count: format.byteCount)
    var span = bytes.mutableSpan
    // SAFETY: any byte is a valid UInt8.
    var raw = unsafe span.mutableBytes
    TestPattern(style).draw(
      into: &raw, width: width, height: height, strideBytes: format.planes[0].stride,
      sequence: sequence, milliseconds: milliseconds)
    return (format, bytes)
  }

  private func read(_ bytes: [UInt8], _ format: FrameFormat) -> TestPatternMark? {
    // SAFETY: a UInt8 has no padding.
    unsafe TestPatternMark(format: format, bytes: bytes.span.bytes)
  }

  @Test(arguments: TestPatternStyle.allCases, [(640, 480), (1280, 720), (333, 217), (1920, 1080)])
  func markIsReadBackFromEveryStyleAndSize(
    style: TestPatternStyle, size: (Int, Int)
  ) throws {
    for sequence in [UInt64(1), 77, 0xFFFF_FFFF, 0x1_0000_0002] {
      let (format, bytes) = try frame(
        style, width: size.0, height: size.1, sequence: sequence, milliseconds: 123_456)
      let mark = read(bytes, format)
      #expect(mark?.sequence == UInt32(truncatingIfNeeded: sequence))
      #expect(mark?.milliseconds == 123_456)
    }
  }

  @Test func pictureTooSmallForAMarkIsDrawnWithoutOne() throws {
    let (format, bytes) = try frame(.bars, width: 16, height: 9, sequence: 3, milliseconds: 4)
    #expect(read(bytes, format) == nil)
  }

  @Test func pictureWithoutAMarkHasNone() {
    #expect(TestPatternMark(width: 640, height: 480) { _, _ in 0 } == nil)
    #expect(TestPatternMark(width: 640, height: 480) { x, y in UInt8((x ^ y) & 255) } == nil)
  }

  @Test func flippedBlockIsDetected() {
    let mark = TestPatternMark(sequence: 0x1234_5678, milliseconds: 0x9ABC_DEF0)
    for index in mark.bits.indices {
      var bits = mark.bits
      bits[index].toggle()
      #expect(TestPatternMark(bits: bits) == nil)
    }
    #expect(TestPatternMark(bits: mark.bits) == mark)
  }

  @Test(arguments: [(640, 480), (641, 483), (1280, 720)])
  func markSurvivesH264AtALowBitRate(size: (Int, Int)) throws {
    let root = try TemporaryRoot()
    let count = 10
    var raw = Data()
    for sequence in 1...count {
      raw.append(
        contentsOf: try frame(
          .bars, width: size.0, height: size.1, sequence: UInt64(sequence),
          milliseconds: UInt64(sequence * 33)
        ).bytes)
    }
    try raw.write(to: URL(fileURLWithPath: root.file("in.raw")))
    // An odd size is cropped to an even one, as the uploader does.
    let (width, height) = (size.0 & ~1, size.1 & ~1)
    try output(
      of: "ffmpeg",
      [
        "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "bgr0", "-s", "\(size.0)x\(size.1)",
        "-r", "30", "-i", root.file("in.raw"), "-vf", "crop=\(width):\(height):0:0", "-c:v",
        "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-crf", "35",
        root.file("out.mp4"),
      ])
    try output(
      of: "ffmpeg",
      [
        "-loglevel", "error", "-i", root.file("out.mp4"), "-f", "rawvideo", "-pix_fmt", "yuv420p",
        root.file("out.raw"),
      ])
    let decoded = [UInt8](try Data(contentsOf: URL(fileURLWithPath: root.file("out.raw"))))
    let frameBytes = width * height * 3 / 2
    #expect(decoded.count == frameBytes * count)
    for index in 0..<decoded.count / frameBytes {
      let mark = TestPatternMark(width: width, height: height) { x, y in
        decoded[index * frameBytes + y * width + x]
      }
      #expect(mark?.sequence == UInt32(index + 1))
      #expect(mark?.milliseconds == UInt32((index + 1) * 33))
    }
  }
}
