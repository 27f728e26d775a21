import FrameBus
import TestSupport
import Testing

@testable import Capture

@Suite struct Y4MHeaderTests {
  private func header(_ text: String) throws -> Y4MHeader { try Y4MHeader(Array(text.utf8)) }

  /// A header may give a rate of one frame in ten years.
  @Test func framesOfTheSlowestRatesAreDueAtTheGreatestPTSAtMost() {
    let slowest = FrameRate(1, 1_000_000_000)
    #expect(Y4MSource.startNs(ofFrame: 9, at: slowest) == 9_000_000_000_000_000_000)
    for index in [10, 30, 1 << 40] as [UInt64] {
      #expect(Y4MSource.startNs(ofFrame: index, at: slowest) == UInt64(Int64.max))
    }
    #expect(Y4MSource.startNs(ofFrame: 30, at: FrameRate(30_000, 1001)) == 1_001_000_000)
  }

  @Test func fullHeaderIsParsed() throws {
    let header = try header("YUV4MPEG2 W321 H241 F30000:1001 Ip A1:1 C420mpeg2 XYSCSS=420MPEG2")
    #expect(header.width == 321 && header.height == 241)
    #expect(header.rate == FrameRate(30000, 1001))
    #expect(header.fourcc == .yuv420)
    #expect(header.planes.map(\.stride) == [321, 161, 161])
    #expect(header.frameBytes == 321 * 241 + 2 * 161 * 121)
  }

  @Test(arguments: [
    ("C420jpeg", FourCC.yuv420, 24), ("C420paldv", .yuv420, 24), ("", .yuv420, 24),
    ("C422", .yuv422, 32), ("C444", .yuv444, 48), ("Cmono", .r8, 16),
  ])
  func commonChromaFormatsAreKnown(chroma: String, fourcc: FourCC, bytes: Int) throws {
    let header = try header("YUV4MPEG2 W4 H4 F25:1 \(chroma)")
    #expect(header.fourcc == fourcc)
    #expect(header.frameBytes == bytes)
  }

  @Test func unpublishableHeadersAreRefusedByName() {
    #expect(throws: Y4MHeaderError.notY4M) { try header("RIFF....") }
    #expect(throws: Y4MHeaderError.notY4M) { try header("") }
    #expect(throws: Y4MHeaderError.interlaced("t")) { try header("YUV4MPEG2 W4 H4 It") }
    #expect(throws: Y4MHeaderError.unsupportedChroma("420p10")) {
      try header("YUV4MPEG2 W4 H4 C420p10")
    }
    #expect(throws: Y4MHeaderError.badRate("x:y")) { try header("YUV4MPEG2 W4 H4 Fx:y") }
    #expect(throws: Y4MHeaderError.badSize(0, 4)) { try header("YUV4MPEG2 H4") }
    #expect(throws: Y4MHeaderError.badSize(99999, 4)) { try header("YUV4MPEG2 W99999 H4") }
    #expect(throws: Y4MHeaderError.badSize(16384, 16384)) {
      try header("YUV4MPEG2 W16384 H16384 C444")
    }
    #expect(throws: Y4MHeaderError.badSize(0, 4)) {
      try header("YUV4MPEG2 W99999999999999999999999 H4")
    }
  }

  @Test func malformedHeaderNeverTraps() {
    let seed = TestSeed(for: "Y4MHeaderTests")
    var random = seed.generator
    let pieces = [
      "YUV4MPEG2", " ", "W", "H", "F", "C", "I", "A", "X", "16", "-1", "0", ":", "420", "444",
      "9223372036854775807", "\u{0}", "é", "p", "t",
    ]
    for _ in 0..<20_000 {
      let text = (0..<Int.random(in: 0...12, using: &random))
        .map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
      if let header = try? header("YUV4MPEG2 " + text) {
        #expect((1...Y4MHeader.maximumFrameBytes).contains(header.frameBytes), "\(seed) \(text)")
      }
      let noise = (0..<40).map { _ in UInt8.random(in: 0...255, using: &random) }
      _ = try? Y4MHeader(noise)
    }
  }
}
