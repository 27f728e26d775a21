import CFrameLayout
import TestSupport
import Testing

@testable import FrameBus

@Suite struct MetadataTests {
  private let format = Result { try FrameFormat.video(.xrgb8888, width: 640, height: 480) }

  @Test func randomDescriptorsYieldNoRectangleOutsideThePicture() throws {
    let seed = TestSeed(for: "randomDescriptorsYieldNoRectangleOutsideThePicture")
    var generator = seed.generator
    let format = try format.get()
    for _ in 0..<50_000 {
      let metadata = FrameMetadata(fb_descriptor.random(using: &generator), of: format)
      let crop = metadata.visibleRect(of: format)
      #expect(!crop.isEmpty && format.bounds.contains(crop), "\(seed)")
      #expect(metadata.damage.rects.allSatisfy(format.bounds.contains), "\(seed)")
      let shown = metadata.uprightBounds(of: format)
      #expect(shown.area == crop.area, "\(seed)")
    }
  }

  @Test func metadataSurvivesItsDescriptor() throws {
    let format = try format.get()
    for orientation in Orientation.allCases {
      var metadata = FrameMetadata(ptsNs: .min, capturedAtNs: .max)
      metadata.durationNs = 3
      metadata.orientation = orientation
      metadata.flags = [.silence, .configuration, FrameFlags(rawValue: 1 << 31)]
      metadata.crop = PixelRect(x: 1, y: 2, width: 3, height: 4)
      metadata.damage = .none
      var descriptor = fb_descriptor()
      metadata.store(into: &descriptor)
      #expect(FrameMetadata(descriptor, of: format) == metadata)
    }
  }

  /// Of frames with a second line in their descriptors and without, in any order.
  @Test(arguments: [true, false])
  func everyFrameHasItsOwnDetails(isCopied: Bool) throws {
    let world = try World()
    var publisher = try world.publisher { $0.ringDepth = 8 }
    var subscriber = try world.subscriber(.keepLatest(8))
    var memory = [UInt8](repeating: 0, count: 64 * 4 * 4)
    let seed = TestSeed(for: "everyFrameHasItsOwnDetails")
    var generator = seed.generator
    func take() throws -> FrameMetadata? {
      if isCopied { return try copyNext(&subscriber, into: &memory)?.metadata }
      return try subscriber.poll()?.metadata
    }
    for _ in 1...2000 {
      var sent: [FrameMetadata?] = []
      for _ in 1...Int.random(in: 1...4, using: &generator) {
        var loan = try publisher.loan()
        let kind = Int.random(in: 0..<8, using: &generator)
        switch kind {
        case 0: loan.metadata.flags = [.silence]
        case 1: loan.metadata.orientation = .left
        case 2: loan.metadata.crop = PixelRect(x: 1, y: 1, width: 5, height: 2)
        case 3: loan.metadata.damage = DamageRegion([PixelRect(x: 2, y: 0, width: 9, height: 3)])
        case 4: loan.metadata.durationNs = 5
        default: break
        }
        sent.append(kind > 4 ? nil : loan.metadata)
        loan.publish()
      }
      for expected in sent {
        let found = try #require(try take())
        let plain = FrameMetadata(ptsNs: found.ptsNs, capturedAtNs: found.capturedAtNs)
        #expect(found == expected ?? plain, "\(seed)")
      }
    }
  }

  @Test func croppedAndTurnedPicturesHaveTheSizeTheyAreShownAt() throws {
    let format = try format.get()
    var metadata = FrameMetadata(ptsNs: 0, capturedAtNs: 0)
    metadata.orientation = .right
    #expect(metadata.uprightBounds(of: format) == PixelRect(x: 0, y: 0, width: 480, height: 640))
    metadata.crop = PixelRect(x: 8, y: 8, width: 100, height: 50)
    #expect(metadata.uprightBounds(of: format) == PixelRect(x: 0, y: 0, width: 50, height: 100))
    metadata.orientation = .down
    #expect(metadata.uprightBounds(of: format) == PixelRect(x: 0, y: 0, width: 100, height: 50))
  }

  /// EXIF 2.3, table 6: which corner of the upright picture the first pixel is, and the next one.
  @Test(arguments: [
    (Orientation.up, "TL", "right"), (.upMirrored, "TR", "left"), (.down, "BR", "left"),
    (.downMirrored, "BL", "right"), (.leftMirrored, "TL", "down"), (.right, "TR", "down"),
    (.rightMirrored, "BR", "up"), (.left, "BL", "up"),
  ])
  func orientationsAreThoseOfEXIF(_ orientation: Orientation, _ corner: String, _ row: String) {
    func upright(_ x: Int, _ y: Int) -> PixelRect {
      orientation.upright(PixelRect(x: x, y: y, width: 1, height: 1), width: 4, height: 3)
    }
    let (width, height) = orientation.swapsSides ? (3, 4) : (4, 3)
    let first = upright(0, 0)
    #expect(first.y == (corner.first == "T" ? 0 : height - 1))
    #expect(first.x == (corner.last == "L" ? 0 : width - 1))
    let second = upright(1, 0)
    let steps = ["right": (1, 0), "left": (-1, 0), "down": (0, 1), "up": (0, -1)]
    #expect(steps[row]?.0 == second.x - first.x && steps[row]?.1 == second.y - first.y)
  }
}

extension fb_descriptor {
  static func random(using generator: inout SeededGenerator) -> fb_descriptor {
    var descriptor = fb_descriptor()
    // SAFETY: any bytes are a descriptor.
    unsafe withUnsafeMutableBytes(of: &descriptor) { bytes in
      for index in bytes.indices {
        unsafe bytes[index] = .random(in: 0 ... .max, using: &generator)
      }
    }
    if Bool.random(using: &generator) {
      descriptor.damage_count = .random(in: 0...5, using: &generator)
    }
    return descriptor
  }
}
