import CFrameLayout
import TestSupport
import Testing

@testable import FrameBus

/// Format records are untrusted: whatever a publisher writes, no plane lies outside its frame.
@Suite struct FormatRecordTests {
  @Test func everyKindOfFormatSurvivesItsRecord() throws {
    let sound = try AudioFormat(.s24in32be, sampleRate: 44_100, channelCount: 6)
    let formats: [FrameFormat] = [
      try .video(.p010, width: 639, height: 479, frameRate: FrameRate(60), colorSpace: .bt2100PQ),
      try .audio(.micAudio, sound, maximumSampleFrameCount: 480),
      try .encoded(.h264, as: .video, maximumByteCount: 1 << 20, width: 1920, height: 1080),
      try .encoded(.opus, as: .appAudio, maximumByteCount: 1275, audio: sound),
      try .encoded(FourCC(rawValue: 7), as: .data, maximumByteCount: 64),
    ]
    for format in formats { #expect(FrameFormat(format.record(epoch: 3)) == format) }
  }

  @Test func allRawLayoutsHaveTheirSamplesInsideTheirBytes() throws {
    for fourcc in FourCC.knownLayouts {
      for width in 1...9 {
        for height in 1...5 {
          let format = try FrameFormat.video(fourcc, width: width, height: height)
          #expect(format.keepsItsSamplesInside, "\(fourcc) \(width)×\(height)")
        }
      }
    }
  }

  /// Every combination of a few values of each word that determines a layout.
  @Test func smallRecordsYieldNoPlaneOutsideItsFrame() {
    var accepted = 0
    let words: [UInt32] = [0, 1, 4, 8, .max]
    for fourcc in [FourCC.xrgb8888, .nv12, .yuv420, .pcm, FourCC(rawValue: 9)] {
      for kind in UInt32(0)...5 {
        for side in [UInt32(0), 1, 3, 65_535, 65_536] {
          for count in UInt32(0)...5 {
            for (offset, stride) in words.flatMap({ one in words.map { (one, $0) } }) {
              for byteCount in [UInt64(0), 12, 1000, 1 << 32 - 1, .max] {
                var record = fb_format()
                record.kind = kind
                record.fourcc = fourcc.rawValue
                (record.width, record.height) = (side, side)
                record.rate_denominator = 1
                record.byte_count = byteCount
                record.plane_count = count
                record.plane_offsets = (0, offset, offset, offset)
                record.plane_strides = (stride, stride, stride, stride)
                guard let format = FrameFormat(record) else { continue }
                accepted += 1
                #expect(format.keepsItsSamplesInside, "\(record)")
              }
            }
          }
        }
      }
    }
    #expect(accepted > 100)
  }

  @Test func randomRecordsYieldNoPlaneOutsideItsFrame() {
    let seed = TestSeed(for: "randomRecordsYieldNoPlaneOutsideItsFrame")
    var generator = seed.generator
    var accepted = 0
    for _ in 0..<200_000 {
      guard let format = FrameFormat(fb_format.random(using: &generator)) else { continue }
      accepted += 1
      #expect(format.keepsItsSamplesInside, "\(seed)")
      #expect(FrameFormat(format.record(epoch: 1)) == format, "\(seed)")
      _ = "\(format.fourcc) \(format.colorSpace)"
    }
    #expect(accepted > 1000, "\(seed)")
  }

  @Test func aFourCCThatIsNotPrintableIsShownAsItsNumber() {
    #expect(FourCC.xrgb8888.description == "XR24")
    #expect(FourCC(rawValue: 0x1b5b_324a).description == "0x1b5b324a")
    #expect(FourCC("R8  ") == .r8)
    #expect(FourCC("é24") == nil)
  }

  @Test func colorSpacesSurvivePackingAndZeroMeansUnspecified() {
    #expect(ColorSpace(packed: 0) == .unspecified)
    #expect(ColorSpace.bt709.packed == 0x0101_0101)
    #expect(ColorSpace.sRGB.packed == 0x0200_0d01)
    let unknown = ColorSpace(packed: 0x0163_6261)
    #expect(unknown.primaries.rawValue == 0x61)
    #expect(unknown.packed == 0x0163_6261)
    #expect(ColorSpace(packed: 0xff01_0101).range == .unspecified)
    #expect(ColorSpace.jpeg.description == "jpeg")
    #expect(unknown.description == "97/98/99 limited")
  }
}

extension FrameFormat {
  /// Whether every sample of every plane lies inside the frame's bytes, checked row by row.
  fileprivate var keepsItsSamplesInside: Bool {
    let shapes = fourcc.planeShapes
    if kind != .video || shapes.isEmpty {
      return planes.allSatisfy { $0.offset + $0.stride <= byteCount }
    }
    guard planes.count == shapes.count else { return false }
    return zip(planes, shapes).allSatisfy { plane, shape in
      let columns = (width + shape.columns - 1) / shape.columns
      let rows = (height + shape.rows - 1) / shape.rows
      return plane.stride >= columns * shape.bytes
        && (rows - 1) * plane.stride + columns * shape.bytes + plane.offset <= byteCount
    }
  }
}

extension FourCC {
  /// Every code of two letters, letters or digits, and digits or spaces that the bus knows.
  fileprivate static var knownLayouts: [FourCC] {
    let letters = (0x30...0x5a).map { UInt32($0) } + [0x20]
    var found: [FourCC] = []
    for a in letters {
      for b in letters {
        for c in letters {
          for d in letters {
            let fourcc = FourCC(rawValue: a | b << 8 | c << 16 | d << 24)
            if !fourcc.planeShapes.isEmpty { found.append(fourcc) }
          }
        }
      }
    }
    return found
  }
}

extension fb_format {
  /// Words that are small, large or plausible; a record of random words would be refused at once.
  static func random(using generator: inout SeededGenerator) -> fb_format {
    func word(_ likely: UInt32...) -> UInt32 {
      switch UInt32.random(in: 0..<16, using: &generator) {
      case 0: UInt32.random(in: 0 ... .max, using: &generator)
      case 1: UInt32.random(in: 0...8, using: &generator)
      default: likely[Int.random(in: 0..<likely.count, using: &generator)]
      }
    }
    let fourccs: [FourCC] = [
      .xrgb8888, .nv12, .yuv420, .p010, .s410, .rgb565, .pcm, .h264, .opus,
    ]
    var format = fb_format()
    format.kind = word(1, 1, 2, 3, 4)
    format.fourcc = word(fourccs.randomElement(using: &generator)?.rawValue ?? 0)
    format.width = word(0, 1, 2, 640)
    format.height = word(0, 1, 3, 480)
    format.byte_count = UInt64(word(1, 1 << 10, 1 << 22, .max)) << (word(0, 0, 0, 9) % 32)
    format.plane_count = word(0, 1, 2, 3)
    format.color_space = word(0, 0x0101_0101)
    format.rate_numerator = word(0, 60)
    format.rate_denominator = word(1, 1, 1, 1001)
    format.plane_offsets = (word(0), word(640 * 480, 1), word(640 * 600), word(0))
    format.plane_strides = (word(2560, 640, 8), word(640, 2560, 8), word(640, 2560), word(0))
    format.sample_format = word(0, 3)
    format.sample_rate = word(0, 48_000)
    format.channel_count = word(0, 2)
    format.is_interleaved = word(0, 1)
    format.channel_mask = UInt64(word(0, 3))
    return format
  }
}
