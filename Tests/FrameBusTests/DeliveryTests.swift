import FrameBus
import Platform
import TestSupport
import Testing

@Suite struct DeliveryTests {
  @Test func aPublishedFrameArrivesWithItsBytesAndMetadata() throws {
    let world = try World()
    var publisher = try world.publisher()
    var subscriber = try world.subscriber()
    var loan = try publisher.loan()
    var bytes = loan.bytes
    bytes.storeBytes(of: 0xfeed_f00d, as: UInt64.self)
    loan.metadata.ptsNs = -5
    loan.metadata.capturedAtNs = 7
    loan.metadata.durationNs = 8
    loan.metadata.orientation = .right
    loan.metadata.flags = [.keyFrame, .protected]
    loan.metadata.crop = PixelRect(x: 1, y: 2, width: 3, height: 2)
    loan.metadata.damage = DamageRegion([PixelRect(x: 5, y: 1, width: 7, height: 3)])
    let sent = loan.metadata
    #expect(loan.publish().rawValue == 1)
    guard let lease = try subscriber.poll() else {
      Issue.record("no frame")
      return
    }
    #expect(number(of: lease) == 0xfeed_f00d)
    #expect(lease.metadata == sent)
    #expect(lease.sequence.rawValue == 1)
    #expect(lease.format == publisher.format)
    #expect(lease.byteCount == 64 * 4 * 4)
    #expect(lease.droppedBefore == 0)
  }

  @Test func nothingIsReceivedTwice() throws {
    let world = try World()
    var publisher = try world.publisher()
    var subscriber = try world.subscriber()
    try publishNumbered(&publisher)
    #expect(try receivedNumber(&subscriber) == 1)
    #expect(try receivedNumber(&subscriber) == nil)
  }

  @Test func newestOnlyCountsWhatItPassesOver() throws {
    let world = try World()
    var publisher = try world.publisher()
    var subscriber = try world.subscriber(.latest)
    for _ in 1...10 { try publishNumbered(&publisher) }
    #expect(try receivedNumber(&subscriber) == 10)
    #expect(subscriber.droppedCount == 9)
    #expect(subscriber.receivedCount == 1)
  }

  @Test(arguments: [2, 3, 8])
  func subscriberThatFallsARingBehindCountsDropsAndResumesAtTheFloor(depth: Int) throws {
    let world = try World()
    var publisher = try world.publisher { $0.ringDepth = depth }
    var subscriber = try world.subscriber(.keepLatest(depth))
    for _ in 1...20 { try publishNumbered(&publisher) }
    for expected in (20 - depth + 1)...20 {
      #expect(try receivedNumber(&subscriber) == UInt64(expected))
    }
    #expect(try receivedNumber(&subscriber) == nil)
    #expect(subscriber.droppedCount == UInt64(20 - depth))
  }

  @Test func lateJoinersBeginWhereTheyAsk() throws {
    let world = try World()
    var publisher = try world.publisher { $0.ringDepth = 4 }
    for _ in 1...10 { try publishNumbered(&publisher) }
    var newest = try world.subscriber(.keepLatest(4)) { $0.start = .newest }
    var oldest = try world.subscriber(.keepLatest(4)) { $0.start = .oldest }
    var next = try world.subscriber(.keepLatest(4)) { $0.start = .next }
    #expect(try receivedNumber(&newest) == 10)
    #expect(try receivedNumber(&oldest) == 7)
    #expect(try receivedNumber(&next) == nil)
    try publishNumbered(&publisher)
    #expect(try receivedNumber(&next) == 11)
    #expect(newest.droppedCount + oldest.droppedCount + next.droppedCount == 0)
  }

  @Test func aHeldFrameStaysAsItIsWhileTheRingTurns() throws {
    let world = try World()
    var publisher = try world.publisher()
    var subscriber = try world.subscriber { $0.holds = 2 }
    try publishNumbered(&publisher)
    guard let held = try subscriber.poll() else {
      Issue.record("no frame")
      return
    }
    for turn in 2...500 {
      try publishNumbered(&publisher)
      #expect(try receivedNumber(&subscriber) == UInt64(turn))
      #expect(number(of: held) == 1)
    }
  }

  @Test func heldFramesBeyondTheGrantAreAClearError() throws {
    let world = try World()
    var publisher = try world.publisher()
    var subscriber = try world.subscriber { $0.holds = 1 }
    try publishNumbered(&publisher)
    let held = try subscriber.poll()
    try publishNumbered(&publisher)
    #expect(throws: ReceiveError.holdsExhausted(granted: 1)) { _ = try subscriber.poll() }
    _ = consume held
    #expect(try receivedNumber(&subscriber) == 2)
  }

  @Test func withoutHoldersThreeSlotsTakeTurns() throws {
    let world = try World()
    var publisher = try world.publisher(width: 640, height: 400)
    var offsets: Set<Int> = []
    for _ in 1...100 {
      let loan = try publisher.loan()
      offsets.insert(loan.offsetInPool)
      loan.publish()
    }
    #expect(offsets.count == 3)
  }

  @Test func aDroppedLoanIsCountedAndItsSlotUsedAgain() throws {
    let world = try World()
    var publisher = try world.publisher()
    let first = try publisher.loan().offsetInPool
    #expect(try publisher.loan().offsetInPool == first)
    let status = try #require(try listStreams(in: world.group).first)
    #expect(status.abandoned == 2)
    #expect(status.cursor == 0)
  }

  @Test func loansBeyondTheLimitAreRefused() throws {
    let world = try World()
    var publisher = try world.publisher { $0.maxLoans = 2 }
    let first = try publisher.loan()
    let second = try publisher.loan()
    #expect(throws: LoanError.tooManyLoans(maxLoans: 2)) { _ = try publisher.loan() }
    _ = consume first
    _ = consume second
    _ = try publisher.loan()
  }

  @Test func finishIsSeenAfterTheLastFrame() throws {
    let world = try World()
    var publisher = try world.publisher()
    var subscriber = try world.subscriber(.keepLatest(2))
    try publishNumbered(&publisher)
    try publishNumbered(&publisher)
    publisher.finish(.stopped)
    var seen: [UInt64] = []
    while true {
      switch try subscriber.next(until: .after(.seconds(30))) {
      case .frame(let lease):
        seen.append(number(of: lease))
        continue
      case .finished(let reason): #expect(reason == .stopped)
      default: Issue.record("neither frame nor end")
      }
      break
    }
    #expect(seen == [1, 2])
  }
}

/// The number in the next frame, or nil if no frame is available.
func receivedNumber(_ subscriber: inout Subscriber) throws -> UInt64? {
  guard let lease = try subscriber.poll() else { return nil }
  return number(of: lease)
}
