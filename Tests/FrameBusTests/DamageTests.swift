import CFrameLayout
import TestSupport
import Testing

@testable import FrameBus

/// Damage rectangles, compared with a map of the changed pixels.
@Suite struct DamageTests {
  /// All rectangles of a picture of 3×3 pixels, three at a time.
  @Test func everyUnionOfThreeRectanglesCoversThem() {
    let rects = PixelMap.rects(of: 3)
    for one in rects {
      for two in rects {
        for three in rects {
          let region = DamageRegion([one, two, three])
          #expect(PixelMap(3, region) == PixelMap(3, [one, two, three]))
        }
      }
    }
  }

  @Test func manyRectanglesBecomeAtMostFourThatCoverThem() {
    let seed = TestSeed(for: "manyRectanglesBecomeAtMostFourThatCoverThem")
    var generator = seed.generator
    let rects = PixelMap.rects(of: 8)
    for _ in 0..<5000 {
      let count = Int.random(in: 0...12, using: &generator)
      let chosen = (0..<count).compactMap { _ in rects.randomElement(using: &generator) }
      let region = DamageRegion(chosen)
      #expect(region.rects.count <= 4, "\(seed)")
      #expect(PixelMap(8, region).covers(PixelMap(8, chosen)), "\(seed)")
      #expect(region.isEmpty == chosen.isEmpty, "\(seed)")
    }
  }

  @Test func fourCornersAndAFifthNearOneLeaveTheMiddleAlone() {
    let corners = [(0, 0), (90, 0), (0, 90), (90, 90), (12, 0)].map {
      PixelRect(x: $0.0, y: $0.1, width: 10, height: 10)
    }
    let rects = DamageRegion(corners).rects
    #expect(rects.count == 4)
    #expect(rects.contains(PixelRect(x: 0, y: 0, width: 22, height: 10)))
  }

  @Test func whatLiesOutsideIsCutOff() {
    let region = DamageRegion([
      PixelRect(x: -5, y: -5, width: 10, height: 6),
      PixelRect(x: .max, y: 0, width: .max, height: 1),
      PixelRect(x: 65_000, y: 1, width: .max, height: 2),
    ])
    #expect(
      region.rects == [
        PixelRect(x: 0, y: 0, width: 5, height: 1),
        PixelRect(x: 65_000, y: 1, width: 535, height: 2),
      ])
    let area = PixelRect(x: 2, y: 0, width: 100, height: 100)
    #expect(region.clipped(to: area).rects == [PixelRect(x: 0, y: 0, width: 3, height: 1)])
    #expect(DamageRegion.full.clipped(to: area).isFull)
  }

  /// Every way to receive some of six frames with a ring of two to four, each frame with its own
  /// pixel changed, one of them possibly with another format or after a jump.
  @Test(arguments: 2...4)
  func receivedDamageCoversAllThatChangedSinceTheFrameBefore(depth: Int) {
    for received in 0..<(1 << 6) {
      for odd in 0...6 {
        for isFormat in [false, true] {
          check(received: received, depth: depth, odd: UInt64(odd), isFormat: isFormat)
        }
      }
    }
  }

  private func check(received: Int, depth: Int, odd: UInt64, isFormat: Bool) {
    var history = DamageHistory()
    var last: UInt64 = 0
    for sequence in UInt64(1)...6 where received >> (sequence - 1) & 1 == 1 {
      defer { last = sequence }
      let own = frame(sequence, odd, isFormat)
      let joined = history.advance(to: sequence, formatEpoch: own.format_epoch) { skipped in
        skipped + UInt64(depth) > sequence ? frame(skipped, odd, isFormat) : nil
      }
      let damage = joined ?? own.changes
      let since = (last + 1)...sequence
      let isKnown =
        last > 0 && !since.contains(odd) && sequence - last <= UInt64(depth)
      #expect(damage.isFull == !isKnown, "\(received) \(depth) \(odd) \(isFormat): \(sequence)")
      let changed = PixelMap(3, since.map { pixel($0) })
      #expect(damage.isFull || PixelMap(3, damage).covers(changed))
    }
  }

  private func pixel(_ sequence: UInt64) -> PixelRect {
    PixelRect(x: Int(sequence) % 3, y: Int(sequence) / 3, width: 1, height: 1)
  }

  private func frame(_ sequence: UInt64, _ odd: UInt64, _ isFormat: Bool) -> fb_descriptor {
    var descriptor = fb_descriptor()
    descriptor.sequence = sequence
    descriptor.format_epoch = isFormat && odd > 0 && sequence >= odd ? 2 : 1
    if !isFormat, sequence == odd { descriptor.flags = FrameFlags.discontinuity.rawValue }
    DamageRegion([pixel(sequence)]).store(into: &descriptor)
    return descriptor
  }

  /// Random changes to a picture, published and received with random gaps: a subscriber that
  /// copies only what is damaged must always have the publisher's picture.
  @Test(arguments: [2, 3, 8])
  func aPictureRedrawnOnlyWhereDamagedIsTheWholePicture(depth: Int) throws {
    let seed = TestSeed(for: "aPictureRedrawnOnlyWhereDamagedIsTheWholePicture")
    var generator = seed.generator
    let world = try World()
    var publisher = try world.publisher(width: 8, height: 8) { $0.ringDepth = depth }
    var newest = try world.subscriber(.latest)
    var ordered = try world.subscriber(.keepLatest(depth))
    var picture = Array(repeating: UInt32(0), count: 64)
    var copies = [picture, picture]
    for step in 1...UInt32(3000) {
      if step == 1000 { try publisher.setFormat(try .video(.xbgr8888, width: 8, height: 8)) }
      var loan = try publisher.loan()
      let changed = (0..<Int.random(in: 0...6, using: &generator)).map { _ in
        PixelRect(
          x: Int.random(in: 0..<8, using: &generator), y: Int.random(in: 0..<8, using: &generator),
          width: 1, height: Int.random(in: 1...3, using: &generator))
      }
      for index in PixelMap(8, changed).indices { picture[index] = step }
      var bytes = loan.bytes
      for (index, pixel) in picture.enumerated() {
        bytes.storeBytes(of: pixel, toByteOffset: index * 4, as: UInt32.self)
      }
      loan.metadata.damage = DamageRegion(changed)
      loan.publish()
      if Bool.random(using: &generator) {
        try redraw(&copies[0], &newest)
        #expect(copies[0] == picture, "\(seed)")
      }
      if Int.random(in: 0..<4, using: &generator) == 0 {
        while try redraw(&copies[1], &ordered) {}
        #expect(copies[1] == picture, "\(seed)")
      }
    }
  }

  @discardableResult
  private func redraw(_ copy: inout [UInt32], _ subscriber: inout Subscriber) throws -> Bool {
    guard let lease = try subscriber.poll() else { return false }
    let bytes = lease.bytes
    for index in PixelMap(8, lease.damage).indices {
      // SAFETY: 64 pixels of 4 bytes are the whole frame.
      copy[index] = unsafe bytes.unsafeLoad(fromByteOffset: index * 4, as: UInt32.self)
    }
    return true
  }

  @Test func firstFrameAndFirstFrameOfASuccessorAreFullyDamaged() throws {
    let world = try World()
    var publisher = try world.publisher()
    var subscriber = try world.subscriber()
    for expected in [true, false] {
      try publishUnchanged(&publisher)
      #expect(try subscriber.poll()?.damage.isFull == expected)
    }
    _ = consume publisher
    publisher = try world.publisher()
    try publishUnchanged(&publisher)
    guard case .frame(let lease) = try subscriber.next(until: .after(.seconds(30))) else {
      Issue.record("no frame of the successor")
      return
    }
    #expect(lease.damage.isFull)
    #expect(publisher.publishedCount == 1)
  }

  private func publishUnchanged(_ publisher: inout Publisher) throws {
    var loan = try publisher.loan()
    loan.metadata.damage = .none
    loan.publish()
  }
}

/// A set of pixels of a small square picture.
private struct PixelMap: Equatable {
  private let side: Int
  private var isSet: [Bool]

  init(_ side: Int, _ rects: [PixelRect]) {
    self.side = side
    isSet = Array(repeating: false, count: side * side)
    for rect in rects {
      for y in rect.y..<min(side, rect.y + rect.height) {
        for x in rect.x..<min(side, rect.x + rect.width) { isSet[y * side + x] = true }
      }
    }
  }

  init(_ side: Int, _ region: DamageRegion) {
    let everything = PixelRect(x: 0, y: 0, width: side, height: side)
    self.init(side, region.isFull ? [everything] : region.rects)
  }

  var indices: [Int] { isSet.indices.filter { isSet[$0] } }

  func covers(_ other: PixelMap) -> Bool { zip(isSet, other.isSet).allSatisfy { $0 || !$1 } }

  /// All rectangles that lie in such a picture.
  static func rects(of side: Int) -> [PixelRect] {
    var all: [PixelRect] = []
    for x in 0..<side {
      for y in 0..<side {
        for width in 1...(side - x) {
          for height in 1...(side - y) {
            all.append(PixelRect(x: x, y: y, width: width, height: height))
          }
        }
      }
    }
    return all
  }
}
