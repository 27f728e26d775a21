import FrameBus
import Platform
import TestSupport
import Testing

/// What happens when a process of the bus is killed: design/frame-ring.md, failure table.
@Suite(.serialized) struct DeathTests {
  @Test func aPublisherKilledHalfwayIsSucceededAtAnotherResolution() throws {
    let world = try World()
    let first = try world.worker("publish", "halfway=50", "width=320")
    try first.waitForOutput("publishing")
    let subscriber = try world.worker("subscribe", "policy=latest")
    try subscriber.waitForOutput("size 320x200")
    try first.waitForOutput("halfway")
    _ = try first.end(with: 9)
    try subscriber.waitForOutput("event publisherGone")
    let second = try world.worker("publish", "width=640")
    try subscriber.waitForOutput("event publisherBack")
    try subscriber.waitForOutput("size 640x200")
    _ = try second.end(with: 9)
    let last = try world.worker("publish", "frames=1", "wait=1", "width=640")
    #expect(try last.finish().status == .exited(0))
    let result = try subscriber.finish()
    #expect(result.status == .exited(0), "\(result.output)\(result.errors)")
    #expect(result.output.contains("finished ended"))
    #expect(!result.output.contains("TORN"))
  }

  @Test func aSleepingSubscriberNoticesThePublishersDeath() throws {
    let world = try World()
    let publisher = try world.worker("publish", "halfway=1")
    try publisher.waitForOutput("halfway")
    let subscriber = try world.worker("subscribe")
    try subscriber.waitForOutput("attached")
    _ = try publisher.end(with: 9)
    try subscriber.waitForOutput("event publisherGone")
  }

  @Test func killedSubscribersHoldsAndSeatAreFree() throws {
    let world = try World()
    var publisher = try world.publisher { $0.holdQuota = 64 }
    for round in 1...20 {
      let subscriber = try world.worker("subscribe", "hold=1")
      let came = publisher.waitForSubscriber(until: .after(.seconds(60)))
      #expect(came)
      try publishWhole(&publisher)
      try subscriber.waitForOutput("holding")
      #expect(try listStreams(in: world.group).first?.subscribers.first?.held == 1)
      _ = try subscriber.end(with: 9)
      try waitUntil("the dead subscriber of round \(round) is forgotten") {
        publisher.subscriberCount == 0
      }
      for _ in 1...10 { try publishWhole(&publisher) }
    }
    #expect(try listStreams(in: world.group).first?.subscribers == [])
  }

  @Test func stoppedSubscriberStallsNoOtherAndContinuesLater() throws {
    let world = try World()
    var publisher = try world.publisher()
    let stopped = try world.worker("subscribe", "frames=3", "holds=2", "keep=1")
    let came = publisher.waitForSubscriber(until: .after(.seconds(60)))
    #expect(came)
    try publishWhole(&publisher)
    try stopped.waitForOutput("received 1 ")
    try stop(stopped)
    var other = try world.subscriber(.keepLatest(2)) { $0.start = .next }
    try waitUntil("both are seated") { publisher.subscriberCount == 2 }
    for expected in 2...1000 {
      try publishWhole(&publisher)
      #expect(try receivedNumber(&other) == UInt64(expected))
    }
    stopped.process.send(signal: 18)
    // It wakes to the newest frame and receives one more; the frames that it held are unchanged.
    try waitUntil("the continued subscriber is done") {
      try publishWhole(&publisher)
      return publisher.subscriberCount == 1
    }
    let result = try stopped.finish()
    #expect(result.output.contains("done received 3"), "\(result.output)")
    #expect(!result.output.hasSuffix("dropped 0\n"))
  }

  @Test func killedProcessesLeaveNothingBehind() throws {
    let sharedMemory = try OwnSharedMemory()
    let world = try World(sharedMemory: sharedMemory)
    let publisher = try world.worker("publish")
    try publisher.waitForOutput("publishing")
    let facts = ProcessFacts(publisher.processID)
    func round() throws {
      let subscriber = try world.worker("subscribe", "hold=1")
      try subscriber.waitForOutput("holding")
      _ = try subscriber.end(with: 9)
      try waitUntil("the subscriber is forgotten") {
        try listStreams(in: world.group).first?.subscribers.isEmpty == true
      }
    }
    let descriptors = try facts.descriptorCount
    let mappings = try memoryFileMappings(facts)
    for _ in 1...10 { try round() }
    // The connections that asked for its status are closed a moment later.
    try waitUntil("the publisher has as few descriptors as before") {
      try facts.descriptorCount == descriptors
    }
    #expect(try memoryFileMappings(facts) == mappings)
    _ = try publisher.end(with: 9)
    try sharedMemory.waitUntilEmpty()
  }

  @Test func publishersComeAndGoUnderASubscriberWithoutATornFrame() throws {
    let world = try World()
    let subscriber = try world.worker("subscribe", "policy=keep:2")
    for round in 1...8 {
      let publisher = try world.worker("publish", "intervalUs=200", "width=\(round * 40)")
      try subscriber.waitForOutput("size \(round * 40)x200")
      _ = try publisher.end(with: 9)
    }
    let transcript = try subscriber.end(with: 9).output
    #expect(!transcript.contains("TORN"))
  }
}

/// How many mappings of pools, boards and pages a process has.
func memoryFileMappings(_ facts: ProcessFacts) throws -> Int {
  try facts.mappings.count { $0.contains("memfd:framebus") }
}

/// Publishes a frame of which every word is its number, as the workers check it.
func publishWhole(_ publisher: inout Publisher) throws {
  let number = publisher.publishedCount + 1
  var loan = try publisher.loan()
  var bytes = loan.bytes
  for offset in stride(from: 0, to: bytes.byteCount, by: 8) {
    bytes.storeBytes(of: number, toByteOffset: offset, as: UInt64.self)
  }
  loan.publish()
}
