import Foundation
import FrameBus
import GroupSemaphores
import Platform
import TestSupport
import Testing

/// Waits by descriptor, in programs in C whose event loop is poll(2), and deaths of the other side.
@Suite struct WaitingTests {
  @Test func aPublisherThatPollsForLoansLosesNoFrameForALosslessSubscriber() throws {
    try withWatchdog {
      let world = try CWorld()
      let publisher = try world.c(
        "publish", "lossless=1", "descriptor=1", "frames=500", "intervalUs=0")
      try publisher.waitForOutput("publishing")
      let subscriber = try world.swift("subscribe", "policy=lossless")
      let received = try subscriber.finish()
      #expect(received.output.contains("finished ended received 500 dropped 0"))
      #expect(try publisher.finish().output.contains("finished"))
    }
  }

  @Test func theDescriptorForLoansStaysUnreadableUntilTheBlockingSubscriberIsKilled() throws {
    try withWatchdog {
      let world = try CWorld()
      let publisher = try world.c("publish", "lossless=1", "descriptor=1")
      try publisher.waitForOutput("publishing")
      let subscriber = try world.c("subscribe", "policy=lossless", "hold=1")
      try publisher.waitForOutput("waiting")
      let before = lines(of: publisher)
      _ = try subscriber.end(with: Signal.kill)
      try waitUntil("the publisher goes on") { lines(of: publisher) > before + 2 }
    }
  }

  @Test func aSubscriberWithoutProgressLosesLosslessDeliveryWhileThePublisherPolls() throws {
    try withWatchdog {
      let world = try CWorld()
      let publisher = try world.c("publish", "lossless=1", "descriptor=1")
      try publisher.waitForOutput("publishing")
      let subscriber = try world.c("subscribe", "policy=lossless", "hold=1", "limitMs=700")
      try publisher.waitForOutput("waiting")
      let before = lines(of: publisher)
      try waitUntil("the publisher goes on") { lines(of: publisher) > before + 2 }
      #expect(subscriber.process.status == nil)
      let status = try #require(try listStreams(in: world.group).first)
      #expect(status.subscribers.count == 1)
    }
  }

  @Test func aPublisherThatIsKilledWhileItPollsLeavesItsSubscribersToTheNextOne() throws {
    try withWatchdog {
      let world = try CWorld()
      let first = try world.c("publish", "lossless=1", "descriptor=1")
      try first.waitForOutput("publishing")
      let blocking = try world.c("subscribe", "policy=lossless", "hold=1")
      try first.waitForOutput("waiting")
      let subscriber = try world.c("subscribe", "policy=lossless")
      try subscriber.waitForOutput("attached")
      _ = try first.end(with: Signal.kill)
      _ = try blocking.end(with: Signal.kill)
      let second = try world.c(
        "publish", "lossless=1", "descriptor=1", "frames=300", "intervalUs=0")
      let received = try subscriber.finish().output
      #expect(received.contains("result 3 reason 1"), "\(received)")
      #expect(try second.finish().output.contains("finished"))
    }
  }

  @Test func theDescriptorForPermitsBecomesReadableWhenTheHolderIsKilled() throws {
    try withWatchdog {
      let world = try CWorld()
      let holder = try permits(world, "hold")
      try holder.waitForOutput("holding")
      let waiters = try (0..<2).map { _ in try permits(world, "wait") }
      for waiter in waiters { try waiter.waitForOutput("waiting") }
      _ = try holder.end(with: Signal.kill)
      // The first one frees it again with its handle.
      for waiter in waiters {
        let output = try waiter.finish().output
        #expect(output.contains("result 0\n"), "\(output)")
      }
    }
  }

  @Test(arguments: [true, false])
  func theDescriptorForPermitsBecomesReadableByAPost(isRecoverable: Bool) throws {
    try withWatchdog {
      let world = try CWorld()
      let semaphore = try GroupSemaphore.create(
        SemaphoreName("gpu"), in: world.group, initialValue: 0, recoverable: isRecoverable)
      let waiter = try permits(world, "wait")
      try waiter.waitForOutput("waiting")
      try semaphore.post()
      let output = try waiter.finish().output
      #expect(output.contains("result 0\n"), "\(output)")
      #expect(try semaphore.value() == (isRecoverable ? 1 : 0))
    }
  }

  @Test func theDescriptorForPermitsBecomesReadableWhenTheSemaphoreIsRemoved() throws {
    try withWatchdog {
      let world = try CWorld()
      _ = try GroupSemaphore.create(SemaphoreName("gpu"), in: world.group, initialValue: 0)
      let waiter = try permits(world, "wait")
      try waiter.waitForOutput("waiting")
      try GroupSemaphore.remove(SemaphoreName("gpu"), in: world.group)
      let output = try waiter.finish().output
      #expect(output.contains("result -5\n"), "\(output)")
    }
  }

  /// Random bytes in the whole file of a semaphore, again and again.
  @Test func aMemberThatCorruptsTheSemaphoreEndsNoWaiterForItsDescriptor() throws {
    let seed = TestSeed(for: "WaitingTests")
    var generator = seed.generator
    try withWatchdog {
      let world = try CWorld()
      _ = try GroupSemaphore.create(
        SemaphoreName("gpu"), in: world.group, initialValue: 0, recoverable: true)
      let waiter = try permits(world, "wait")
      try waiter.waitForOutput("waiting")
      let path = world.group.semaphoresPath + "/gpu.semaphore"
      let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
      while waiter.process.status == nil {
        let bytes = (0..<4096).map { _ in UInt8.random(in: 0...255, using: &generator) }
        try file.seek(toOffset: 4096 * UInt64.random(in: 0...2, using: &generator))
        try file.write(contentsOf: Data(bytes))
      }
      let output = try waiter.finish().output
      #expect(output.contains("result "), "\(output)")
    }
  }

  private func permits(_ world: CWorld, _ role: String) throws -> RunningProgram {
    try RunningProgram(
      world.library.program("Permits"), [role, world.root.path, CWorld.groupName, "gpu"])
  }

  private func lines(of program: RunningProgram) -> Int {
    program.output.text.split(separator: "\n").count
  }
}
