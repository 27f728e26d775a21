import FrameBus
import Platform
import TestSupport
import Testing

@Suite struct CopyNextTests {
  @Test func aCopyHasTheBytesAndTheMetadata() throws {
    let world = try World()
    var publisher = try world.encodingPublisher { $0.ringDepth = 4 }
    var subscriber = try world.subscriber(.keepLatest(4))
    for size in [13, 8, 1, 64] {
      var loan = try publisher.loan()
      var bytes = loan.bytes
      for index in 0..<size {
        bytes.storeBytes(of: UInt8(index + 1), toByteOffset: index, as: UInt8.self)
      }
      loan.metadata.ptsNs = Int64(size)
      loan.publish(byteCount: size)
    }
    for (index, size) in [13, 8, 1, 64].enumerated() {
      var buffer = [UInt8](repeating: 0xff, count: 80)
      let frame = try #require(try copyNext(&subscriber, into: &buffer))
      #expect(frame.byteCount == size)
      #expect(frame.metadata.ptsNs == Int64(size))
      #expect(frame.sequence.rawValue == UInt64(index + 1))
      #expect(frame.format == publisher.format)
      #expect(Array(buffer.prefix(size)) == (1...size).map { UInt8($0) })
      #expect(buffer.dropFirst(size).allSatisfy { $0 == 0xff }, "what lies behind stays")
    }
    var buffer = [UInt8](repeating: 0, count: 80)
    #expect(try copyNext(&subscriber, into: &buffer) == nil)
    #expect(subscriber.receivedCount == 4)
    #expect(subscriber.droppedCount == 0)
  }

  @Test func aBufferThatIsTooSmallLosesNothing() throws {
    let world = try World()
    var publisher = try world.publisher()
    var subscriber = try world.subscriber()
    try publishNumbered(&publisher)
    var small = [UInt8](repeating: 0, count: 1023)
    #expect(throws: ReceiveError.bufferTooSmall(frameBytes: 1024)) {
      _ = try copyNext(&subscriber, into: &small)
    }
    #expect(try receivedNumber(&subscriber) == 1)
  }

  @Test func copiesNeedNoHoldAndMixWithLeases() throws {
    let world = try World()
    var publisher = try world.publisher()
    var subscriber = try world.subscriber { $0.holds = 1 }
    try publishNumbered(&publisher)
    let held = try subscriber.poll()
    for turn: UInt64 in 2...100 {
      try publishNumbered(&publisher)
      var buffer = [UInt8](repeating: 0, count: 1024)
      let frame = try #require(try copyNext(&subscriber, into: &buffer))
      #expect(frame.sequence.rawValue == turn)
      #expect(wholeNumber(inFirst: 8, of: buffer) == turn)
    }
    _ = consume held
  }

  @Test func theEndIsSeenByCopyingToo() throws {
    let world = try World()
    var publisher = try world.publisher()
    var subscriber = try world.subscriber(.keepLatest(2))
    try publishNumbered(&publisher)
    publisher.finish(.ended)
    var buffer = [UInt8](repeating: 0, count: 1024)
    #expect(try copyNext(&subscriber, into: &buffer) != nil)
    #expect(try copyNext(&subscriber, into: &buffer) == nil)
    guard case .finished(.ended) = try subscriber.next(until: .after(.seconds(30))) else {
      Issue.record("not finished")
      return
    }
  }

  /// Frames of every size, from those that are always copied in time to those that are nearly
  /// always overwritten meanwhile.
  @Test(arguments: [1, 16, 4096, 65_535])
  func noCopyIsEverTornHoweverFastThePublisherIs(rows: Int) throws {
    let world = try World()
    let publisher = try world.worker(
      "publish", "intervalUs=0", "width=16", "height=\(rows)", "depth=2")
    try publisher.waitForOutput("published 100")
    var subscriber = try world.subscriber(.latest)
    var buffer = [UInt8](repeating: 0, count: 64 * rows)
    var copies = 0
    let end = Deadline.after(.seconds(2))
    while !end.isPast {
      guard let frame = try copyNext(&subscriber, into: &buffer) else { continue }
      copies += 1
      #expect(wholeNumber(inFirst: buffer.count, of: buffer) == frame.sequence.rawValue)
    }
    #expect(rows > 16 || copies > 0)
    _ = try publisher.end(with: 9)
  }
}

private func wholeNumber(inFirst count: Int, of buffer: [UInt8]) -> UInt64? {
  // SAFETY: bytes are what they are made of.
  unsafe wholeNumber(in: buffer.span.bytes.extracting(first: count))
}

func copyNext(
  _ subscriber: inout Subscriber, into buffer: inout [UInt8]
) throws -> CopiedFrame? {
  var elements = buffer.mutableSpan
  // SAFETY: bytes have no value that is not allowed.
  var bytes = unsafe elements.mutableBytes
  return try subscriber.copyNext(into: &bytes)
}
