import FrameBus
import Platform
import TestSupport
import Testing

@Suite struct PolicyTests {
  @Test func subscribersOfEveryNthFrameReceiveTheSameFrames() throws {
    let world = try World()
    var publisher = try world.publisher()
    var early = try world.subscriber(.everyNth(3))
    var seen: [[UInt64]] = [[], []]
    for _ in 1...7 {
      try publishNumbered(&publisher)
      if let received = try receivedNumber(&early) { seen[0].append(received) }
    }
    var late = try world.subscriber(.everyNth(3)) { $0.start = .next }
    for _ in 8...20 {
      try publishNumbered(&publisher)
      if let received = try receivedNumber(&early) { seen[0].append(received) }
      if let received = try receivedNumber(&late) { seen[1].append(received) }
    }
    #expect(seen == [[3, 6, 9, 12, 15, 18], [9, 12, 15, 18]])
    #expect(early.droppedCount(by: .passedOver) == 14)
    #expect(early.droppedCount == 14)
  }

  @Test func framesLeftOutOnPurposeAreNoLoss() throws {
    let world = try World()
    var publisher = try world.publisher()
    var subscriber = try world.subscriber(.everyNth(10))
    for _ in 1...25 { try publishNumbered(&publisher) }
    #expect(try receivedNumber(&subscriber) == nil)
    #expect(subscriber.droppedCount(by: .lapped) == 2, "10 and 20")
    #expect(subscriber.droppedCount(by: .passedOver) == 23)
    #expect(subscriber.lagFrames == 0)
    for _ in 26...30 { try publishNumbered(&publisher) }
    #expect(subscriber.lagFrames == 5)
    #expect(try receivedNumber(&subscriber) == 30)
  }

  @Test func afterAGapAnEncodedStreamContinuesWithTheNextKeyFrame() throws {
    let world = try World()
    var publisher = try world.encodingPublisher { $0.ringDepth = 4 }
    var subscriber = try world.subscriber(.keyFrameAware)
    for number: UInt64 in 1...3 {
      try publishEncoded(&publisher, keyEvery: 5)
      #expect(try receivedNumber(&subscriber) == number)
    }
    // The ring keeps 6 … 9, and 6 is a key frame.
    for _ in 4...9 { try publishEncoded(&publisher, keyEvery: 5) }
    for number: UInt64 in 6...9 { #expect(try receivedNumber(&subscriber) == number) }
    // The ring keeps 12 … 15, and none is a key frame.
    for _ in 10...15 { try publishEncoded(&publisher, keyEvery: 5) }
    #expect(try receivedNumber(&subscriber) == nil)
    try publishEncoded(&publisher, keyEvery: 5)
    #expect(try receivedNumber(&subscriber) == 16)
    #expect(subscriber.droppedCount(by: .lapped) == 4, "4, 5, 10, 11")
    #expect(subscriber.droppedCount(by: .awaitingKeyFrame) == 4, "12 … 15")
    #expect(subscriber.droppedCount == 8)
  }

  @Test func anEncodedStreamBeginsWithAKeyFrame() throws {
    let world = try World()
    var publisher = try world.encodingPublisher { $0.ringDepth = 8 }
    for _ in 1...9 { try publishEncoded(&publisher, keyEvery: 5) }
    var newest = try world.subscriber(.keyFrameAware) { $0.start = .newest }
    var key = try world.subscriber(.keyFrameAware) { $0.start = .keyFrame }
    #expect(try receivedNumber(&newest) == nil)
    #expect(try receivedNumber(&key) == 6)
    for _ in 10...11 { try publishEncoded(&publisher, keyEvery: 5) }
    #expect(try receivedNumber(&newest) == 11)
    #expect(newest.droppedCount(by: .awaitingKeyFrame) == 2, "9 and 10")
    #expect(key.droppedCount == 0)
  }

  @Test(arguments: [SubscriberPolicy.keepLatest(2), .latest, .everyNth(1)])
  func withoutAKeyFrameInTheRingAllBeginWithTheNextOne(policy: SubscriberPolicy) throws {
    let world = try World()
    var publisher = try world.encodingPublisher { $0.ringDepth = 2 }
    for _ in 1...9 { try publishEncoded(&publisher, keyEvery: 5) }
    var subscriber = try world.subscriber(policy) { $0.start = .keyFrame }
    #expect(try receivedNumber(&subscriber) == nil)
    try publishEncoded(&publisher, keyEvery: 5)
    #expect(try receivedNumber(&subscriber) == nil)
    try publishEncoded(&publisher, keyEvery: 5)
    #expect(try receivedNumber(&subscriber) == 11)
    // From there on the policy alone decides.
    try publishEncoded(&publisher, keyEvery: 5)
    #expect(try receivedNumber(&subscriber) == 12)
  }

  @Test func everyRawPictureIsAKeyFrame() throws {
    let world = try World()
    var publisher = try world.publisher()
    for _ in 1...5 { try publishNumbered(&publisher) }
    var subscriber = try world.subscriber(.keyFrameAware) { $0.start = .keyFrame }
    #expect(try receivedNumber(&subscriber) == 5)
  }

  @Test(arguments: [
    SubscriberPolicy.latest, .keepLatest(1), .keepLatest(4), .everyNth(3), .keyFrameAware,
  ])
  func receivedAndDroppedFramesAddUp(policy: SubscriberPolicy) throws {
    let seed = TestSeed(for: "receivedAndDroppedFramesAddUp")
    var random = seed.generator
    let world = try World()
    var publisher = try world.encodingPublisher { $0.ringDepth = 4 }
    var subscriber = try world.subscriber(policy) { $0.holds = 2 }
    var seen: [UInt64] = []
    var droppedBefore: UInt64 = 0
    var kept: FrameLease?
    for _ in 1...2000 {
      for _ in 0..<Int.random(in: 0...6, using: &random) {
        try publishEncoded(&publisher, keyEvery: 7)
      }
      for _ in 0..<Int.random(in: 0...3, using: &random) {
        guard let lease = try subscriber.poll() else { continue }
        #expect(lease.sequence.rawValue == number(of: lease), "\(seed)")
        seen.append(number(of: lease))
        droppedBefore += lease.droppedBefore
        // Some are held for a while.
        kept = Bool.random(using: &random) ? consume lease : nil
      }
    }
    while let lease = try subscriber.poll() {
      seen.append(number(of: lease))
      droppedBefore += lease.droppedBefore
    }
    _ = consume kept
    #expect(zip(seen, seen.dropFirst()).allSatisfy { $0 < $1 }, "\(seed)")
    // Counted from outside: every number that was drawn in and not seen.
    let published = publisher.publishedCount
    let missing = Set(1...published).subtracting(seen)
    #expect(subscriber.receivedCount == UInt64(seen.count), "\(seed)")
    #expect(subscriber.droppedCount == UInt64(missing.count), "\(seed)")
    #expect(droppedBefore + (published - (seen.last ?? 0)) == UInt64(missing.count), "\(seed)")
    let byReason = DropReason.allCases.map { subscriber.droppedCount(by: $0) }
    #expect(byReason.reduce(0, +) == subscriber.droppedCount, "\(seed)")
    let row = try #require(try listStreams(in: world.group).first?.subscribers.first)
    #expect(row.position == published && row.lag == 0, "\(seed)")
    #expect(row.received + row.dropped == published, "\(seed)")
    if case .everyNth(let step) = policy {
      #expect(seen.allSatisfy { $0.isMultiple(of: UInt64(step)) }, "\(seed)")
      let lapped = missing.count { $0.isMultiple(of: UInt64(step)) }
      #expect(subscriber.droppedCount(by: .lapped) == UInt64(lapped), "\(seed)")
    }
    if policy == .keyFrameAware {
      let all = Set(seen)
      let isDecodable = seen.allSatisfy { $0 % 7 == 1 || all.contains($0 - 1) }
      #expect(isDecodable, "\(seed)")
    }
  }
}

extension World {
  /// A publisher of frames that need their predecessors.
  func encodingPublisher(_ change: (inout PublisherOptions) -> Void) throws -> Publisher {
    var options = PublisherOptions()
    change(&options)
    let format = try FrameFormat(
      kind: .video, fourcc: try #require(FourCC("H264")), width: 64, height: 64,
      planes: [], byteCount: 4096)
    return try Publisher(stream, in: group, format: format, options: options)
  }
}

/// Publishes a frame whose first word is its number, with key frames 1, 1 + step, 1 + 2 · step …
func publishEncoded(_ publisher: inout Publisher, keyEvery step: UInt64) throws {
  let number = publisher.publishedCount + 1
  var loan = try publisher.loan()
  var bytes = loan.bytes
  bytes.storeBytes(of: number, as: UInt64.self)
  if number % step == 1 { loan.metadata.flags.insert(.keyFrame) }
  loan.publish(byteCount: 64)
}
