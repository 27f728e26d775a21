import FrameBus
import Platform
import TestSupport
import Testing

/// What subscribers need of the pictures, as their publisher sees it.
@Suite struct DemandTests {
  private let small = Demand(box: Demand.Box(width: 300, height: 200), rate: FrameRate(5))

  @Test func publisherSeesTheHighestDemand() throws {
    let world = try World()
    let publisher = try world.publisher()
    #expect(publisher.demand == nil)
    var first = try world.subscriber { $0.demand = small }
    try waitUntil("it is seated") { publisher.subscriberCount == 1 }
    #expect(publisher.demand == Demand(box: small.box, rate: FrameRate(5000, 1000)))
    do {
      let second = try world.subscriber {
        $0.demand = Demand(box: Demand.Box(width: 100, height: 900), rate: FrameRate(24000, 1001))
      }
      try waitUntil("both are seated") { publisher.subscriberCount == 2 }
      #expect(
        publisher.demand
          == Demand(box: Demand.Box(width: 300, height: 900), rate: FrameRate(23977, 1000)))
      _ = consume second
    }
    try waitUntil("one has left") { publisher.subscriberCount == 1 }
    #expect(publisher.demand?.box == small.box)
    // It changes, and what is out of range is bounded.
    first.demand = Demand(box: Demand.Box(width: -5, height: 1 << 40), rate: FrameRate(1, 1 << 40))
    #expect(
      publisher.demand
        == Demand(box: Demand.Box(width: 1, height: 65_535), rate: FrameRate(1, 1000)))
    first.demand = Demand(rate: FrameRate(1 << 40))
    #expect(publisher.demand == Demand(rate: FrameRate(1_000_000, 1000)))
    first.demand = Demand(rate: .variable)
    #expect(publisher.demand == .everything)
  }

  @Test func subscriberThatStatesNothingNeedsEverythingUntilItDies() throws {
    let world = try World()
    let publisher = try world.publisher()
    let viewer = try world.subscriber { $0.demand = small }
    let recorder = try world.worker("subscribe")
    try waitUntil("both are seated") { publisher.subscriberCount == 2 }
    #expect(publisher.demand == .everything)
    try recorder.end(with: Signal.kill)
    try waitUntil("its demand is gone") { publisher.demand?.box == small.box }
    _ = consume viewer
  }

  /// A source must not take it for one that needs everything, even for a moment.
  @Test func demandIsStatedBeforeTheSubscriberCounts() throws {
    let world = try World()
    let publisher = try world.publisher()
    let (stream, group, small) = (world.stream, world.group, small)
    for _ in 1...50 {
      let done = PrivateFutexWord()
      try startThread(named: "subscriber") {
        var options = SubscriberOptions()
        options.demand = small
        let subscriber = try? Subscriber(stream, in: group, options: options)
        while done.load() == 0 { Platform.sleep(until: .after(.milliseconds(1))) }
        _ = consume subscriber
      }
      while publisher.demand == nil {}
      #expect(publisher.demand?.box == small.box)
      done.increment()
      try waitUntil("it has left") { publisher.subscriberCount == 0 }
    }
  }

  @Test func successorSeesTheDemandToo() throws {
    let world = try World()
    var subscriber: Subscriber
    do {
      let publisher = try world.publisher()
      subscriber = try world.subscriber()
      subscriber.demand = small
      _ = consume publisher
    }
    let successor = try world.publisher()
    try waitUntil("it has attached again") {
      _ = try subscriber.poll()
      return successor.subscriberCount == 1
    }
    #expect(successor.demand?.box == small.box)
  }

  @Test(arguments: [(30, 60), (29, 60), (20, 40), (10, 20), (1, 2)])
  func filmIsReducedToTheRate(rate: Int, count: Int) {
    var selection = FrameSelection()
    let frame: Int64 = 33_333_333
    // Times of a camera, which are up to a fifth of a frame early or late.
    let times = (0..<60).map { frame * $0 + [0, 6_000_000, -5_000_000, 3_000_000][Int($0 % 4)] }
    let needed = times.filter {
      selection.needs($0, before: $0, Demand(rate: FrameRate(rate)))
    }
    #expect(abs(needed.count - count) <= 2, "\(needed)")
    if rate <= 10 {
      #expect(zip(needed.dropFirst(), needed).allSatisfy { $0 - $1 > 500_000_000 / Int64(rate) })
    }
  }

  @Test func filmIsWholeWithoutRateAndAfterAJump() {
    var selection = FrameSelection()
    let slow = Demand(rate: FrameRate(1, 1000))
    let whole = (0..<9).filter { selection.needs($0, before: $0, $0 % 2 == 0 ? nil : .everything) }
    #expect(whole.count == 9)
    // No rate is lower than one frame in ten seconds.
    let taken = (0..<100).filter { second in
      let ptsNs = Int64(second) * 1_000_000_000
      return selection.needs(ptsNs, before: ptsNs, slow)
    }
    #expect(taken.count == 11)
    #expect(zip(taken.dropFirst(), taken).allSatisfy { $0 - $1 >= 5 })
    let jumps: [Int64] = [0, .max, .min, .max, 0, .min]
    #expect(jumps.filter { selection.needs($0, before: $0, slow) } == jumps)
  }

  @Test func filmKeepsTheLastFrameBeforeAPauseAndAtTheEnd() {
    var selection = FrameSelection()
    let demand = Demand(rate: FrameRate(4))
    let times = [0, 40, 80, 60_000, 60_040, 60_080].map { Int64($0) * 1_000_000 }
    let needed = times.indices.filter { index in
      let next = index + 1 < times.count ? times[index + 1] : nil
      return selection.needs(times[index], before: next, demand)
    }
    #expect(needed == [0, 2, 3, 5])
  }

  @Test func liveFrameIsNeededWhenNoOtherFollowsInTime() {
    var selection = FrameSelection()
    let demand = Demand(rate: FrameRate(4))
    func needs(_ ptsNs: Int64, at nowNs: Int64, _ demand: Demand?) -> Bool {
      selection.needs(ptsNs, before: nowNs, demand)
    }
    let frameNs: Int64 = 40_000_000
    #expect(needs(0, at: 0, demand))
    #expect(!needs(frameNs, at: frameNs, demand))
    // The next one may be half an interval late.
    let dueNs = frameNs + Int64(selection.waitNs(of: frameNs, demand))
    #expect(dueNs == 375_000_001)
    #expect(!needs(frameNs, at: dueNs - 1, demand))
    #expect(needs(frameNs, at: dueNs, demand))
    // The grid stays, whenever the frame was published.
    #expect(!needs(374_999_999, at: 374_999_999, demand))
    #expect(needs(375_000_000, at: 375_000_000, demand))
    // Without subscribers, every frame is published.
    #expect(!needs(400_000_000, at: 400_000_000, demand))
    #expect(needs(400_000_000, at: 400_000_000, nil))
  }

  @Test func demandFullOfLiesStaysInBounds() throws {
    let world = try World()
    let publisher = try world.publisher()
    let peer = try HostilePeer("pages", in: world)
    try peer.program.waitForOutput("ready")
    for _ in 1...100_000 {
      guard let rate = publisher.demand?.rate else { continue }
      guard rate.denominator == 1000, (1...1_000_000).contains(rate.numerator) else {
        Issue.record("rate \(rate)")
        return
      }
    }
  }
}
