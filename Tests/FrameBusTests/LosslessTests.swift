import FrameBus
import Platform
import TestSupport
import Testing

@Suite struct LosslessTests {
  @Test(arguments: [2, 3, 8])
  func everyFrameOfAFasterPublisherArrives(depth: Int) throws {
    let world = try World()
    let publisher = try world.worker(
      "publish", "lossless=1", "wait=1", "frames=2000", "intervalUs=0", "depth=\(depth)",
      "width=64", "grow=1000")
    let subscriber = try world.worker("subscribe", "policy=lossless")
    #expect(try publisher.finish().status == .exited(0))
    let result = try subscriber.finish()
    #expect(result.output.contains("finished ended received 2000 dropped 0"), "\(result.output)")
  }

  @Test func aLaggingLosslessSubscriberIsBackpressure() throws {
    let world = try World()
    var publisher = try world.publisher { $0.allowsLossless = true }
    var subscriber = try world.subscriber(.lossless(deadline: .seconds(30)))
    try publishNumbered(&publisher)
    try publishNumbered(&publisher)
    #expect(throws: LoanError.backpressure(subscriber: 0, lagFrames: 2)) {
      _ = try publisher.loan()
    }
    #expect(throws: LoanError.timedOut) {
      _ = try publisher.loan(waitingUntil: .after(.milliseconds(10)))
    }
    #expect(try receivedNumber(&subscriber) == 1)
    try publishNumbered(&publisher)
    #expect(try receivedNumber(&subscriber) == 2)
    #expect(try receivedNumber(&subscriber) == 3)
  }

  @Test func subscriberWithoutProgressLosesLosslessDeliveryAndStallsNoOther() throws {
    let world = try World()
    var publisher = try world.publisher {
      $0.allowsLossless = true
      $0.losslessStallLimit = .milliseconds(50)
    }
    let events = Channel<StreamEvent>()
    var subscriber = try world.subscriber(.lossless(deadline: .seconds(30))) {
      $0.onEvent = { events.send($0) }
    }
    for _ in 1...10 {
      let loan = try publisher.loan(waitingUntil: .never)
      loan.publish()
    }
    _ = try subscriber.poll()
    #expect(try events.receive() == .losslessEnded)
    #expect(subscriber.droppedCount == 8)
    #expect(try listStreams(in: world.group).first?.subscribers.first?.isLossless == false)
  }

  @Test func oneThatCrawlsSpendsItsBudgetAndThenLosesLosslessDelivery() throws {
    let world = try World()
    var publisher = try world.publisher {
      $0.allowsLossless = true
      $0.losslessStallBudget = .milliseconds(500)
    }
    let peer = try HostilePeer("crawler", in: world)
    try peer.program.waitForOutput("ready")
    try waitUntil("its budget is spent") {
      // More than the ring takes, because it catches up between two of these calls.
      for _ in 1...20 { try publisher.loan(waitingUntil: .never).publish() }
      return try listStreams(in: world.group).first?.subscribers.first?.isLossless == false
    }
  }

  @Test func withoutABudgetASlowSubscriberIsWaitedForWhileItMakesProgress() throws {
    let world = try World()
    var publisher = try world.publisher {
      $0.allowsLossless = true
      $0.losslessStallBudget = nil
    }
    let peer = try HostilePeer("crawler", in: world)
    try peer.program.waitForOutput("ready")
    for _ in 1...40 {
      let loan = try publisher.loan(waitingUntil: .never)
      loan.publish()
    }
    #expect(try listStreams(in: world.group).first?.subscribers.first?.isLossless == true)
  }

  @Test func aKilledLosslessSubscriberReleasesAWaitingPublisher() throws {
    let world = try World()
    let publisher = try world.worker(
      "publish", "lossless=1", "wait=1", "frames=100", "intervalUs=0", "stallMs=600000")
    let subscriber = try world.worker("subscribe", "policy=lossless", "hold=1")
    try subscriber.waitForOutput("holding")
    _ = try subscriber.end(with: 9)
    #expect(try publisher.finish().output.contains("finished"))
  }

  @Test func aLosslessStreamOutlivesItsPublishersProcessUntilItIsRead() throws {
    let world = try World()
    let publisher = try world.worker(
      "publish", "lossless=1", "wait=1", "frames=50", "intervalUs=0", "depth=64")
    let subscriber = try world.worker("subscribe", "policy=lossless", "delayUs=2000")
    #expect(try publisher.finish().status == .exited(0))
    #expect(try subscriber.finish().output.contains("received 50 dropped 0"))
  }

  @Test func latecomersMissNothingAndAPublisherAtFullSpeedWaitsForThem() throws {
    let world = try World()
    let publisher = try world.worker(
      "publish", "lossless=1", "intervalUs=0", "width=16", "depth=2")
    try publisher.waitForOutput("published 100")
    for start in Array(repeating: [StartingPoint.next, .newest], count: 40).joined() {
      var subscriber = try world.subscriber(.lossless(deadline: .seconds(30))) {
        $0.start = start
      }
      var last: UInt64?
      for _ in 1...3 {
        guard case .frame(let lease) = try subscriber.next(until: .after(.seconds(30))) else {
          Issue.record("no frame")
          return
        }
        if let last { #expect(lease.sequence.rawValue == last + 1) }
        last = lease.sequence.rawValue
      }
      #expect(subscriber.droppedCount == 0)
    }
    #expect(publisher.process.wait(until: .now) == nil, "\(publisher.transcript)")
  }

  @Test func limitsOfLessThanASecondAreKept() throws {
    let world = try World()
    let publisher = try world.worker(
      "publish", "lossless=1", "wait=1", "frames=20", "intervalUs=0", "stallMs=900")
    let subscriber = try world.worker("subscribe", "policy=lossless", "delayUs=5000")
    let result = try subscriber.finish()
    #expect(result.output.contains("finished ended received 20 dropped 0"), "\(result.output)")
    #expect(try publisher.finish().status == .exited(0))
  }
}
