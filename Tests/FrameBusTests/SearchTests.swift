import FrameBus
import Platform
import TestSupport
import Testing

/// Subscribers whose publisher is stopped: it exists, but does not answer. Without its deadline
/// each of these waits would take ten seconds, and the watchdog would end the test.
@Suite(.serialized) struct SearchTests {
  @Test func attachingToAStoppedPublisherEndsAtItsDeadline() throws {
    try withWatchdog {
      let world = try World()
      let publisher = try world.worker("publish")
      try publisher.waitForOutput("publishing")
      try stop(publisher)
      func attachBriefly() throws {
        _ = try Subscriber(
          world.stream, in: world.group, waitingForPublisherUntil: .after(.milliseconds(5)))
      }
      for _ in 1...50 {
        #expect(throws: SubscriberError.noAnswer(world.stream)) { try attachBriefly() }
      }
      let stop = try StopSignal()
      stop.raise()
      for _ in 1...50 {
        #expect(throws: SubscriberError.stopped) {
          _ = try Subscriber(
            world.stream, in: world.group, waitingForPublisherUntil: .never, stop: stop)
        }
      }
      publisher.process.send(signal: 18)
      _ = try Subscriber(
        world.stream, in: world.group, waitingForPublisherUntil: .after(.seconds(60)))
      _ = try publisher.end(with: 9)
    }
  }

  @Test func aStoppedSuccessorBlocksNeitherPollNorDeadlines() throws {
    try withWatchdog {
      let world = try World()
      let first = try world.worker("publish")
      try first.waitForOutput("publishing")
      var subscriber = try world.subscriber()
      _ = try first.end(with: 9)
      let second = try world.worker("publish", "width=640")
      try second.waitForOutput("publishing")
      try stop(second)
      try waitUntil("it has noticed") {
        _ = try subscriber.poll()
        return subscriber.generation == nil
      }
      for _ in 1...10_000 { #expect(try receivedNumber(&subscriber) == nil) }
      for _ in 1...50 {
        guard case .timedOut = try subscriber.next(until: .after(.milliseconds(2))) else {
          Issue.record("no timeout")
          return
        }
      }
      var buffer = InlineArray<8, UInt8>(repeating: 0)
      var elements = buffer.mutableSpan
      // SAFETY: bytes have no value that is not allowed.
      var bytes = unsafe elements.mutableBytes
      for _ in 1...100 { #expect(try subscriber.copyNext(into: &bytes) == nil) }
      second.process.send(signal: 18)
      guard case .frame(let lease) = try subscriber.next(until: .after(.seconds(60))) else {
        Issue.record("no frame of the successor")
        return
      }
      #expect(lease.format.width == 640)
      _ = try second.end(with: 9)
    }
  }

  @Test func aTaskThatAwaitsAStoppedSuccessorLeavesItsThreadToOthers() throws {
    try withWatchdog {
      let world = try World()
      let first = try world.worker("publish", "lossless=1", "wait=1", "frames=0")
      try first.waitForOutput("publishing")
      // In a process of its own: here other tests block the threads that tasks run on.
      let subscribers = try world.worker("suspend", "tasks=4", "tick=1")
      try subscribers.waitForOutput(String(repeating: "attached screen\n", count: 4))
      _ = try first.end(with: 9)
      let second = try world.worker("publish", "lossless=1", "frames=0")
      try second.waitForOutput("publishing")
      try stop(second)
      // One turn in ten seconds is what a task gets where each look takes that long.
      let turns = subscribers.output.text.split(separator: "\n").count { $0.hasPrefix("tick") }
      try subscribers.waitForOutput("tick \(turns + 20)\n")
      _ = try second.end(with: 9)
      _ = try subscribers.end(with: 9)
    }
  }
}
