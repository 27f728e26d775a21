import Capture
import Foundation
import FrameBus

/// Checks pictures of `test:bars`: each pixel must match the number drawn into the picture, and the
/// numbers must increase.
struct PictureCheck {
  private var newest = (generation: UInt64(0), sequence: UInt32(0))
  private var pixels: [UInt32] = []

  /// - Returns: the problem; nil for a picture that is intact.
  mutating func problem(
    _ format: FrameFormat, generation: UInt64, _ bytes: RawSpan
  ) -> String? {
    guard let mark = TestPatternMark(format: format, bytes: bytes) else { return "has no mark" }
    if generation == newest.generation, mark.sequence <= newest.sequence {
      return "has number \(mark.sequence) after \(newest.sequence)"
    }
    newest = (generation, mark.sequence)
    return isAsDrawn(mark, format, bytes) ? nil : "\(mark.sequence) is torn"
  }

  /// Draws the pattern again and compares.
  private mutating func isAsDrawn(
    _ mark: TestPatternMark, _ format: FrameFormat, _ bytes: RawSpan
  ) -> Bool {
    let stride = format.planes[0].stride
    let count = stride * format.height
    if pixels.count != count / 4 { pixels = Array(repeating: 0, count: count / 4) }
    var elements = pixels.mutableSpan
    // SAFETY: whole pixels, for which every bit pattern is valid.
    var canvas = unsafe elements.mutableBytes
    TestPattern(.bars).draw(
      into: &canvas, width: format.width, height: format.height, strideBytes: stride,
      sequence: UInt64(mark.sequence), milliseconds: UInt64(mark.milliseconds))
    // SAFETY: both spans are valid during the call and hold `count` bytes: the format was checked.
    return unsafe bytes.withUnsafeBytes { seen in
      unsafe pixels.withUnsafeBytes { drawn in
        unsafe seen.count >= count && memcmp(seen.baseAddress!, drawn.baseAddress!, count) == 0
      }
    }
  }
}
