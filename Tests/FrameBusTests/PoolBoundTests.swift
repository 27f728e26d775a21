import Foundation
import Platform
import TestSupport
import Testing

@testable import FrameBus

/// The bound on a pool's memory: hostile subscribers cannot exceed it, and when the pool grows,
/// other subscribers lose no frame.
@Suite(.serialized) struct PoolBoundTests {
  /// Bytes of a frame of 1280 × 720.
  private static let frameBytes = 1280 * 720 * 4

  private func publisher(
    in world: World, _ change: (inout PublisherOptions) -> Void = { _ in }
  ) throws -> Publisher {
    try world.publisher(width: 1280, height: 720, change)
  }

  /// The memory that the kernel allocates when a member reads a byte of every page it can map.
  private func allocatedBytes(holds: Int, in world: World) throws -> Int {
    let peer = try HostilePeer("reader", in: world, ["\(holds)"])
    try peer.program.waitForOutput(" bytes\n")
    let words = peer.program.output.text.split(whereSeparator: \.isWhitespace)
    return try #require(words.dropLast().last.flatMap { Int($0) })
  }

  @Test func readerWithOneHoldAllocatesLittleOfThePool() throws {
    let world = try World()
    var publisher = try publisher(in: world)
    try publishNumbered(&publisher)
    // A ring of 2, a loan, and the 8 holds that a pool always has room for.
    #expect(try allocatedBytes(holds: 1, in: world) <= 11 * Self.frameBytes)
    let status = try #require(try listStreams(in: world.group).first)
    #expect(status.slots == 11)
    #expect(Int(status.retainedBytes) <= 11 * Self.frameBytes)
  }

  @Test func boundHoldsForReadersOfAllPages() throws {
    let world = try World()
    let bound = 64 * Self.frameBytes
    var publisher = try publisher(in: world) { $0.poolBytes = bound }
    try publishNumbered(&publisher)
    let crowd = try (0..<4).map { _ in Shelf(try world.subscriber { $0.holds = 16 }) }
    #expect(crowd.map(\.grantedHolds).reduce(0, +) <= 61)
    // The first pool and the largest one.
    let real = try allocatedBytes(holds: 16, in: world)
    #expect(real <= bound + bound / 2, "\(real / Self.frameBytes) frames")
    let status = try #require(try listStreams(in: world.group).first)
    #expect(status.slots <= 64)
    for _ in 1...10 { try publishNumbered(&publisher) }
    withExtendedLifetime(crowd) {}
  }

  @Test func largeSlotsLimitTheSubscribersAndTheNextIsRefused() throws {
    let world = try World()
    let publisher = try publisher(in: world) {
      $0.poolBytes = 1
      $0.seatsPerUser = 64
    }
    let crowd = try (0..<8).map { _ in Shelf(try world.subscriber()) }
    try waitUntil("all are seated") { publisher.subscriberCount == 8 }
    #expect(throws: SubscriberError.refused(world.stream, .full(seats: 8))) {
      _ = try world.subscriber()
    }
    withExtendedLifetime(crowd) {}
  }

  /// The pool grows while subscribers hold frames and others attach.
  @Test func aPoolThatGrowsLosesNoFrameAndNoHold() throws {
    let world = try World()
    var publisher = try world.publisher {
      $0.firstPoolBytes = 1
      $0.seatsPerUser = 64
    }
    var witness = try world.subscriber(.keepLatest(2)) { $0.start = .next }
    var crowd: [Shelf] = []
    for expected in 1...50 {
      crowd.append(Shelf(try world.subscriber { $0.holds = 2 }))
      try publishNumbered(&publisher)
      try expect(expected, from: &witness)
      try crowd[expected - 1].receiveAndHold()
    }
    for round in 51...400 {
      try publishNumbered(&publisher)
      try expect(round, from: &witness)
    }
    #expect(witness.droppedCount == 0)
    for (index, shelf) in crowd.enumerated() { #expect(shelf.heldNumber == UInt64(index + 1)) }
    #expect(try listStreams(in: world.group).first?.slots == 131)
    #expect(try listStreams(in: world.group).first?.evictions == 0)
  }

  /// Waits for a frame, which may arrive before its pool.
  private func expect(_ expected: Int, from subscriber: inout Subscriber) throws {
    guard case .frame(let lease) = try subscriber.next(until: .after(.seconds(60))) else {
      throw HarnessError("no frame \(expected)")
    }
    #expect(number(of: lease) == UInt64(expected))
  }

  /// One frame is published; then more subscribers attach than the first pool has room for.
  @Test func lateSubscriberOfAGrownPoolReceivesTheEarlierFrame() throws {
    let world = try World()
    var publisher = try world.publisher {
      $0.firstPoolBytes = 1
      $0.seatsPerUser = 64
    }
    try publishNumbered(&publisher)
    for _ in 1...3 {
      let crowd = try (0..<40).map { _ in Shelf(try world.subscriber()) }
      for shelf in crowd {
        guard case .frame(let lease) = try shelf.next() else {
          Issue.record("no frame")
          continue
        }
        #expect(number(of: lease) == 1)
      }
    }
  }

  /// The same, while the pool for a larger picture exists but has no frame yet.
  @Test func poolsWithoutAFrameHideNoEarlierFrame() throws {
    let world = try World()
    var publisher = try world.publisher {
      $0.firstPoolBytes = 1
      $0.seatsPerUser = 64
    }
    try publishNumbered(&publisher)
    var crowd: [Shelf] = []
    for height in [8, 4096, 8192] {
      try publisher.setFormat(try .video(.xrgb8888, width: 64, height: height))
      for _ in 1...14 {
        let shelf = Shelf(try world.subscriber(.keepLatest(2)))
        crowd.append(shelf)
        try #require(shelf.nextNumber() == 1)
      }
    }
    try publishNumbered(&publisher)
    for shelf in crowd { #expect(shelf.nextNumber() == 2) }
  }

  /// The ring contains frames of more pools than a subscriber has received so far.
  @Test func aRingOverManyPoolsLosesNoFrame() throws {
    let world = try World()
    var publisher = try world.publisher {
      $0.firstPoolBytes = 1
      $0.ringDepth = 8
      $0.allowsLossless = true
      $0.seatsPerUser = 64
    }
    let slow = Shelf(try world.subscriber(.lossless(deadline: .seconds(60))))
    var crowd: [Shelf] = []
    for round in 0..<3 {
      try publishNumbered(&publisher)
      // More than there is room for.
      for _ in 1...(round + 1) * 9 - crowd.count {
        crowd.append(Shelf(try world.subscriber { $0.holds = 1 }))
      }
      try publishNumbered(&publisher)
      try publisher.setFormat(try .video(.xrgb8888, width: 64, height: 2048 << round))
    }
    try publishNumbered(&publisher)
    let late = Shelf(try world.subscriber(.lossless(deadline: .seconds(60))) { $0.start = .oldest })
    for expected in 1...7 {
      #expect(slow.nextNumber() == UInt64(expected))
      #expect(late.nextNumber() == UInt64(expected))
    }
    withExtendedLifetime(crowd) {}
  }

  /// The publishing thread makes pools for larger pictures while arriving subscribers cause pools
  /// for more holds: in any order, a loan finds a slot.
  @Test func picturesAndHoldsThatGrowTogetherLeaveRoomForEveryLoan() throws {
    for round in 0..<5 {
      let world = try World()
      var publisher = try world.publisher {
        $0.firstPoolBytes = 1
        $0.poolBytes = 40 * 256 * 1024
        $0.seatsPerUser = 64
      }
      let done = Channel<Int>()
      let seed = TestSeed(for: "\(#function)\(round)")
      let hasEnded = PrivateFutexWord()
      try startThread(named: "visitors") {
        done.send((try? visit(world, seed)) ?? 0)
        hasEnded.store(1)
      }
      var height = 4
      while hasEnded.load() == 0 {
        if publisher.publishedCount.isMultiple(of: 400), height < 1024 {
          height *= 2
          try publisher.setFormat(try .video(.xrgb8888, width: 64, height: height))
        }
        try publishNumbered(&publisher)
      }
      #expect(try done.receive() > 0, "\(seed)")
    }
  }

  /// Attaches subscribers that hold a frame each, and detaches them.
  /// - Returns: the number that attached; the others are refused because the stream is full.
  private func visit(_ world: World, _ seed: TestSeed) throws -> Int {
    var generator = seed.generator
    var guests: [Shelf] = []
    var count = 0
    for _ in 1...200 {
      let holds = Int.random(in: 1...16, using: &generator)
      if let guest = try? world.subscriber(.latest, { $0.holds = holds }) {
        let shelf = Shelf(guest)
        count += 1
        try? shelf.receiveAndHold()
        guests.append(shelf)
      }
      if guests.count > Int.random(in: 1...12, using: &generator) {
        guests.remove(at: Int.random(in: 0..<guests.count, using: &generator))
      }
    }
    return count
  }
}
