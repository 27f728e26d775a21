import FrameBus
import Platform
import TestSupport
import Testing

@Suite struct WaitingTests {
  @Test func aSleepingSubscriberIsWokenByAFrame() throws {
    let world = try World()
    var publisher = try world.publisher()
    let subscriber = Shelf(try world.subscriber(.keepLatest(2)))
    let numbers = Channel<UInt64>()
    try startThread(named: "subscriber") {
      while let number = subscriber.nextNumber() { numbers.send(number) }
      numbers.send(0)
    }
    for expected in 1...50 {
      try publishNumbered(&publisher)
      #expect(try numbers.receive() == UInt64(expected))
    }
    publisher.finish(.ended)
    #expect(try numbers.receive() == 0)
  }

  @Test func aWaitEndsAtItsDeadlineAndWhenStopped() throws {
    let world = try World()
    let publisher = try world.publisher()
    var subscriber = try world.subscriber()
    let stop = try StopSignal()
    if case .timedOut = try subscriber.next(until: .after(.milliseconds(20))) {
    } else {
      Issue.record("not timed out")
    }
    try startThread(named: "stopper") { stop.raise() }
    if case .stopped = try subscriber.next(stop: stop) {
    } else {
      Issue.record("not stopped")
    }
    let waited = publisher.waitForSubscriber(until: .never)
    #expect(waited)
  }

  @Test func aPublisherWaitsForItsFirstSubscriberWithoutWork() throws {
    let world = try World()
    let publisher = try world.publisher()
    let early = publisher.waitForSubscriber(until: .after(.milliseconds(5)))
    #expect(!early)
    let worker = try world.worker("subscribe")
    let came = publisher.waitForSubscriber(until: .after(.seconds(60)))
    #expect(came)
    #expect(publisher.joinCount == 1)
    _ = try worker.end(with: 9)
  }

  @Test func asyncSubscribersSuspendInsteadOfBlocking() throws {
    let world = try World()
    // In a process of its own: here other tests block the threads that tasks run on.
    let subscribers = try world.worker("suspend", "tasks=8")
    let publisher = try world.publisher { $0.allowsLossless = true }
    let stop = try StopSignal()
    try subscribers.waitForOutput(String(repeating: "attached screen\n", count: 8))
    try publish(100, publisher, stop)
    let output = try subscribers.finish().output
    #expect(output.hasSuffix(String(repeating: "received 100\n", count: 8)))
  }

  @Test func aCancelledTaskStopsWaiting() async throws {
    let world = try World()
    let publisher = try world.publisher()
    let shelf = Shelf(try world.subscriber())
    let task = Task { try await shelf.nextNumberSuspended() }
    task.cancel()
    #expect(try await task.value == nil)
    #expect(publisher.publishedCount == 0)
  }

  @Test func aSubscriberMayComeBeforeItsPublisher() throws {
    let world = try World()
    let subscriber = try world.worker("subscribe", "frames=5")
    let publisher = try world.worker("publish", "wait=1")
    #expect(try subscriber.finish().output.contains("done received 5"))
    _ = try publisher.end(with: 9)
  }
}

/// Publishes `count` frames, waiting for lossless subscribers, and finishes.
private func publish(_ count: Int, _ publisher: consuming Publisher, _ stop: StopSignal) throws {
  for number in 1...UInt64(count) {
    var loan = try publisher.loan(waitingUntil: .after(.seconds(60)), stop: stop)
    var bytes = loan.bytes
    for offset in stride(from: 0, to: bytes.byteCount, by: 8) {
      bytes.storeBytes(of: number, toByteOffset: offset, as: UInt64.self)
    }
    loan.publish()
  }
  publisher.finish(.ended)
}
