import Foundation
import FrameBus
import Platform
import TestSupport
import Testing

/// A way to wait for frames: the kind of sleep, and what sleeps, such as a thread or a task.
struct Way: Sendable, CustomTestStringConvertible {
  let wait: String
  /// What `BusWorker wait` calls it.
  let by: String

  var testDescription: String { "\(wait) by \(by)" }
  /// A spinning subscriber never sleeps, except in a task.
  var sleeps: Bool { wait != "spin" || by.lowercased().contains("task") || by == "executor" }

  static let all: [Way] = [
    Way(wait: "futex", by: "thread"), Way(wait: "spin", by: "thread"),
    Way(wait: "semaphore", by: "thread"), Way(wait: "eventDescriptor", by: "thread"),
    Way(wait: "eventDescriptor", by: "poll"), Way(wait: "futex", by: "set"),
    Way(wait: "spin", by: "set"), Way(wait: "semaphore", by: "set"),
    Way(wait: "eventDescriptor", by: "set"), Way(wait: "futex", by: "task"),
    Way(wait: "futex", by: "executor"), Way(wait: "eventDescriptor", by: "setTask"),
  ]
}

/// What every way to wait must do: one suite over all. The waiter is a process of its own, and so
/// is a publisher that dies.
@Suite struct WaitConformanceTests {
  private let world: World
  /// Publishes a stream without frames, for waits on several streams.
  private let quiet: RunningProgram

  init() throws {
    world = try World()
    quiet = try world.worker("publish", stream: "quiet", "halfway=1", "lossless=1")
  }

  @Test(arguments: Way.all + [Way(wait: "futex", by: "sequence")])
  func everyFrameOfAnotherProcessIsReceivedInOrder(_ way: Way) throws {
    let publisher = try world.worker("publish", "lossless=1", "wait=1", "frames=200")
    let waiter = try start(way)
    let result = try waiter.finish()
    #expect(result.output.hasSuffix("finished ended\nreceived 200 in order\n"), "\(result)")
    _ = try publisher.finish()
  }

  /// Random pauses of about the time that falling asleep takes: each frame is another try to
  /// publish between a waiter's last check and its sleep. A waiter that misses a wake-up delays
  /// this publisher until its lossless delivery ends.
  @Test(arguments: Way.all)
  func nothingIsLostBetweenTheLastPollAndTheSleep(_ way: Way) throws {
    let frames = ProcessInfo.processInfo.environment["FRAMEBUS_HAMMER"] ?? "20000"
    let publisher = try world.worker(
      "publish", "lossless=1", "wait=1", "frames=\(frames)", "pauseUs=40", "width=2", "height=1")
    let waiter = try start(way, telling: false)
    let result = try waiter.finish(within: .seconds(1200))
    let end = "finished ended\nreceived \(frames) in order\n"
    #expect(result.output == "attached\n" + end, "\(result)")
    _ = try publisher.finish()
  }

  @Test(arguments: Way.all)
  func aWaitEndsAtItsDeadline(_ way: Way) throws {
    let publisher = try world.publisher { $0.allowsLossless = true }
    let waiter = try start(way, "deadlineMs=20")
    try waiter.waitForOutput("timed out\nwaiting\ntimed out\n")
    publisher.finish(.ended)
    #expect(try waiter.finish().output.hasSuffix("finished ended\nreceived 0 in order\n"))
  }

  @Test(arguments: Way.all)
  func aWaitEndsWhenStoppedOrCancelled(_ way: Way) throws {
    let publisher = try world.publisher { $0.allowsLossless = true }
    let waiter = try start(way)
    try waitForSleep(waiter, way)
    let result = try waiter.end(with: SIGTERM)
    #expect(result.output.hasSuffix("waiting\nstopped\nreceived 0 in order\n"), "\(result)")
    #expect(publisher.publishedCount == 0)
  }

  @Test(arguments: Way.all)
  func theEndOfTheStreamIsNoticedWhileAsleep(_ way: Way) throws {
    var publisher = try world.publisher { $0.allowsLossless = true }
    let waiter = try start(way)
    try publishWhole(&publisher)
    try waiter.waitForOutput("frame 1")
    try waitForSleep(waiter, way)
    publisher.finish(.ended)
    #expect(try waiter.finish().output.hasSuffix("finished ended\nreceived 1 in order\n"))
  }

  @Test(arguments: Way.all)
  func aKilledPublisherIsNoticedWhileAsleepAndItsSuccessorFound(_ way: Way) throws {
    let first = try world.worker("publish", "lossless=1", "halfway=2", "wait=1")
    let waiter = try start(way)
    try waiter.waitForOutput("frame 1 size 320x200\n")
    try waitForSleep(waiter, way)
    _ = try first.end(with: SIGKILL)
    try waiter.waitForOutput("event publisherGone")
    let second = try world.worker("publish", "lossless=1", "wait=1", "frames=3", "width=640")
    let output = try waiter.finish().output
    #expect(output.contains("event publisherBack"))
    #expect(output.contains("frame 3 size 640x200\n"))
    #expect(output.hasSuffix("finished ended\nreceived 4 in order\n"), "\(output)")
    _ = try second.finish()
  }

  @Test(arguments: Way.all)
  func theDeathOfAStoppedPublisherIsNoticedWhileAsleep(_ way: Way) throws {
    let publisher = try world.worker("publish", "lossless=1", "halfway=2", "wait=1")
    let waiter = try start(way)
    try waiter.waitForOutput("frame 1")
    publisher.process.send(signal: SIGSTOP)
    try waitForSleep(waiter, way)
    _ = try publisher.end(with: SIGKILL)
    try waiter.waitForOutput("event publisherGone")
  }

  /// The socket does not end, but the process does.
  @Test(arguments: Way.all)
  func sleeperNoticesADeadPublisherWhoseChildKeepsItsSockets(_ way: Way) throws {
    let publisher = try HostilePeer("parent", in: world)
    try publisher.program.waitForOutput("ready")
    let waiter = try start(way)
    try publisher.program.waitForOutput("forked")
    try waitForSleep(waiter, way)
    publisher.program.process.send(signal: SIGKILL)
    try waiter.waitForOutput("event publisherGone")
  }

  @Test(arguments: Way.all)
  func sleepingSubscriberUsesALargerPool(_ way: Way) throws {
    var publisher = try world.publisher { $0.allowsLossless = true }
    let waiter = try start(way)
    for width in [64, 1280, 64, 2560] {
      try waitForSleep(waiter, way)
      try publisher.setFormat(try .video(.xrgb8888, width: width, height: 720))
      try publishWhole(&publisher)
      try waiter.waitForOutput("size \(width)x720")
    }
    publisher.finish(.ended)
    #expect(try waiter.finish().output.hasSuffix("received 4 in order\n"))
  }

  @Test(arguments: Way.all)
  func stoppedAndInterruptedWaiterContinues(_ way: Way) throws {
    var publisher = try world.publisher { $0.allowsLossless = true }
    let waiter = try start(way)
    for number in 1...3 {
      for _ in 1...20 {
        waiter.process.send(signal: SIGSTOP)
        waiter.process.send(signal: SIGCONT)
      }
      try waitForSleep(waiter, way)
      waiter.process.send(signal: SIGSTOP)
      try publishWhole(&publisher)
      waiter.process.send(signal: SIGCONT)
      try waiter.waitForOutput("frame \(number) ")
    }
    publisher.finish(.ended)
    #expect(try waiter.finish().output.hasSuffix("received 3 in order\n"))
  }

  private func start(
    _ way: Way, _ settings: String..., telling: Bool = true
  ) throws -> RunningProgram {
    let own = ["wait=\(way.wait)", "by=\(way.by)", "tell=\(telling ? 1 : 0)"]
    let waiter = try world.worker("wait", settings: own + settings)
    // Lossless from the first frame on.
    try waiter.waitForOutput("attached")
    return waiter
  }

  /// Waits until all threads of the waiter sleep, after it said that it would wait.
  private func waitForSleep(_ waiter: RunningProgram, _ way: Way) throws {
    guard waiter.output.wait(until: .after(.seconds(60)), for: { $0.hasSuffix("waiting\n") }) else {
      throw HarnessError("the waiter does not wait\n\(waiter.transcript)")
    }
    guard way.sleeps else { return }
    let facts = ProcessFacts(waiter.processID)
    try waitUntil("the waiter sleeps") { try facts.threadStates.allSatisfy { $0 == "S" } }
  }
}
