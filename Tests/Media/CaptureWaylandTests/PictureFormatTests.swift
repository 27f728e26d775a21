import Foundation
import FrameBus
import Platform
import TestSupport
import Testing

/// Formats of a compositor's pictures: passed on bit by bit, or refused by their names.
@Suite struct PictureFormatTests {
  private struct Row {
    /// As `wl_shm` calls it.
    let code: UInt32
    let published: FourCC
    /// The bits that are colours.
    let mask: UInt32
    var pixelBytes: Int { published == .rgb888 || published == .bgr888 ? 3 : 4 }
  }

  /// Alpha is left out: nothing lies behind an output. The first two have codes of their own.
  private static let rows =
    [Row(code: 0, published: .xrgb8888, mask: 0xFF_FFFF)]
    + [
      (.xbgr8888, .xbgr8888, 0xFF_FFFF), (.abgr8888, .xbgr8888, 0xFF_FFFF),
      (.xrgb2101010, .xrgb2101010, 0x3FFF_FFFF), (.argb2101010, .xrgb2101010, 0x3FFF_FFFF),
      (.xbgr2101010, .xbgr2101010, 0x3FFF_FFFF), (.abgr2101010, .xbgr2101010, 0x3FFF_FFFF),
      (.rgb888, .rgb888, 0xFF_FFFF), (.bgr888, .bgr888, 0xFF_FFFF),
    ].map { (code: FourCC, published: FourCC, mask: UInt32) in
      Row(code: code.rawValue, published: published, mask: mask)
    } + [Row(code: 1, published: .xrgb8888, mask: 0xFF_FFFF)]

  @Test(arguments: FakeSession.protocols)
  func eachFormatIsPassedOnAlsoInMidStream(protocols: String) throws {
    try withFake(protocols) { fake in
      let capture = try fake.capture()
      let events = StreamEvents()
      var subscriber = try fake.subscriber { events.add($0) }
      for (index, row) in Self.rows.enumerated() {
        // Other bits in each byte, and the highest ones too.
        let color = 0xD5B3_97A1 &+ UInt32(index) &* 0x0101_0101
        try fake.send("format=\(row.code)", "color=\(color)")
        try waitUntil("\(row.published) comes: \(capture.transcript)") {
          guard case .frame(let lease) = try subscriber.next(until: .after(.seconds(10))) else {
            return false
          }
          return lease.format.fourcc == row.published
            && Self.pixel(of: lease, row.pixelBytes) & row.mask == color & row.mask
        }
      }
      #expect(!events.all.contains(.paused(.unavailable)), "\(events.all)")
      try capture.end(with: SIGTERM)
    }
  }

  /// The pixel at 5, 5.
  private static func pixel(of lease: borrowing FrameLease, _ pixelBytes: Int) -> UInt32 {
    let start = 5 * lease.format.planes[0].stride + 5 * pixelBytes
    // SAFETY: the bytes are read while the lease lives.
    return unsafe lease.withUnsafeBytes { bytes in
      (0..<pixelBytes).reduce(0) { unsafe $0 | UInt32(bytes[start + $1]) << (8 * $1) }
    }
  }

  /// 16 bits a colour, whole numbers and halves, 5 and 6 bits, and luma.
  @Test(arguments: FakeSession.protocols, ["AB48", "AB4H", "RG16", "NV12"])
  func otherFormatIsRefusedByItsName(protocols: String, name: String) throws {
    let code = name.utf8.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    let result = try FakeSession([protocols, "format=\(code)"]).captured()
    #expect(result.status == .exited(1))
    #expect(
      result.errors.contains("offers its pixels as \(name) alone")
        && result.errors.contains("8 or 10 bits a colour"), "\(result.errors)")
  }

  /// A session captures all of an output.
  @Test func regionIsCutByTheOtherProtocol() throws {
    try withFake("ext=1") { fake in
      let capture = try fake.capture("--size", "16x8+4+2")
      var subscriber = try fake.subscriber()
      try subscriber.take { $0[5, 5] == 0x204060 }
      #expect(!fake.fake.output.text.contains("session"), "\(fake.fake.output.text)")
      try capture.end(with: SIGTERM)
    }
  }
}
