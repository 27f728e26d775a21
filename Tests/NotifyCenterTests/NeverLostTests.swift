import Foundation
import Platform
import Synchronization
import TestSupport
import Testing

@testable import NotifyCenter

/// Coalesced, never lost: whatever happens to other posters and observers, a living observer
/// receives exactly the number of posts that were made.
@Suite(.serialized) struct NeverLostTests {
  @Test func postsIntoAFullQueueAreCountedAndDeliveredLater() throws {
    let world = try NotifyWorld()
    let observer = try world.worker("observe", "a", "until=40")
    try observer.waitForOutput("ready")
    observer.process.send(signal: Signal.stop)
    // Each process rings once, and a queue has 11 datagrams.
    for _ in 1...40 { _ = try world.worker("post", "a").finish() }
    observer.process.send(signal: Signal.continue)
    #expect(try observer.finish().output.hasSuffix("done 40\n"))
  }

  @Test func stoppedObserverReceivesAllPostsLater() throws {
    let world = try NotifyWorld()
    let observer = try world.worker("observe", "a")
    try observer.waitForOutput("ready")
    try world.center.post("a")
    try observer.waitForOutput("delivery 1 of 1")
    observer.process.send(signal: Signal.stop)
    for _ in 1...10_000 { try world.center.post("a") }
    observer.process.send(signal: Signal.continue)
    try observer.waitForOutput("delivery 10001 of")
    #expect(!observer.output.text.contains("wrong"))
  }

  /// By the kernel's count. A ring is superfluous if its post was delivered before it arrived,
  /// which is rare.
  @Test func observerIsHardlyWokenMoreOftenThanItsClosureIsCalled() throws {
    let world = try NotifyWorld()
    let observer = try world.worker("observe", "a", "until=200000", "hold=1")
    try observer.waitForOutput("ready")
    for pause in ["pauseUs=0", "pauseUs=50"] {
      _ = try world.worker("post", "a", "count=100000", pause, "pauseEvery=10").finish()
    }
    try observer.waitForOutput("done 200000\n")
    let line = observer.output.text.split(separator: "\n").first { $0.hasPrefix("deliveries") }
    let deliveries = try #require(line?.split(separator: " ").last.flatMap { Int($0) })
    let thread = try #require(
      try ProcessFacts(observer.processID).threads.first { try $0.name == "framebus-notify" })
    // Asleep after the last post as before the first.
    #expect(try thread.sleepCount <= deliveries + deliveries / 5 + 10)
    try observer.end(with: 9)
  }

  @Test func cancelledObserversAreNotCalledAndOthersReceiveAllPosts() throws {
    let world = try NotifyWorld()
    let churning = try (1...2).map { _ in try world.worker("churn", "a") }
    let steady = try world.worker("observe", "a", "until=200000")
    for worker in churning + [steady] { try worker.waitForOutput("ready") }
    let posters = try (1...2).map { _ in try world.worker("post", "a", "count=100000") }
    for poster in posters { _ = try poster.finish() }
    #expect(try steady.finish().output.hasSuffix("done 200000\n"))
    for worker in churning { #expect(try !worker.end(with: 9).output.contains("called")) }
  }

  @Test func observationsReleasedDuringPostsAreNotCalledAfterwards() throws {
    let world = try NotifyWorld()
    let poster = try world.worker("post", "a", "count=1000000000", "pauseUs=20")
    try poster.waitForOutput("ready")
    let lateCalls = Mutex(0)
    for round in 1...300 {
      let isGone = Mutex(false)
      let calls = Mutex(0)
      var observation: Observation? = try world.center.observe(name("a")) { _ in
        calls.withLock { $0 += 1 }
        if isGone.withLock({ $0 }) { lateCalls.withLock { $0 += 1 } }
      }
      if round.isMultiple(of: 3) {
        try waitUntil("it is called once") { calls.withLock { $0 } > 0 }
      }
      withExtendedLifetime(observation) {}
      observation = nil
      isGone.withLock { $0 = true }
    }
    #expect(lateCalls.withLock { $0 } == 0)
    try poster.end(with: 9)
  }

  @Test func closuresMayPostAndCancelTheirOwnObservation() throws {
    let world = try NotifyWorld()
    let inbox = Inbox()
    let observation = try world.center.observe("a.back", inbox)
    let echo = try world.worker("echo", "a", "count=100")
    try echo.waitForOutput("ready")
    while echo.process.status == nil {
      try world.center.post("a")
      sleep(until: .after(.microseconds(100)))
    }
    #expect(try echo.finish().output.hasSuffix("done\n"))
    try inbox.wait(forPosts: 100)
    #expect(inbox.posts == 100)
    observation.cancel()
  }

  @Test func fiveHundredObservationsOfOneNameInOneProcessAreAllCalled() throws {
    let world = try NotifyWorld()
    let observer = try world.worker("observe", "a", "registrations=500", "until=1000")
    try observer.waitForOutput("ready")
    _ = try world.worker("post", "a", "count=1000").finish()
    let result = try observer.finish()
    #expect(result.output.hasSuffix("done 1000\n"))
    #expect(!result.output.contains("wrong"))
  }

  @Test func aThousandObserversReceiveThePost() throws {
    let world = try NotifyWorld()
    let crowds = try (1...10).map { _ in try world.worker("crowd", "a", "centers=100", "until=2") }
    for crowd in crowds { try crowd.waitForOutput("ready", within: .seconds(120)) }
    let list = try world.center.list().first { $0.name.text == "a" }
    #expect(list?.observers.count == 1000)
    for count in 1...2 { #expect(try world.center.post("a") == UInt64(count)) }
    for crowd in crowds { #expect(try crowd.finish().output.hasSuffix("done\n")) }
  }

  @Test func tenThousandNamesAreDelivered() throws {
    let world = try NotifyWorld()
    let observer = try world.worker("names", "a", "count=10000")
    try observer.waitForOutput("ready")
    for number in 0..<10_000 { try world.center.post("a.\(number)") }
    #expect(try observer.finish().output.hasSuffix("done\n"))
    #expect(try world.center.list().count { $0.name.text.hasPrefix("a.") } == 10_000)
  }

  @Test func tooManyNamesAreAnErrorAndTheOthersStillWork() throws {
    let world = try NotifyWorld()
    var error: NotifyError?
    for number in 0..<20_000 where error == nil {
      do { try world.center.post("a.\(number)") } catch let caught as NotifyError { error = caught }
    }
    guard case .tooManyNames(_, let maximum)? = error else {
      Issue.record("\(error as Any)")
      return
    }
    #expect(try world.center.list().count { $0.name.text.hasPrefix("a.") } == maximum)
    #expect(try world.center.post("a.0") == 2)
  }

  /// The main test: every post counts, whichever processes die.
  @Test func aMillionPostsEndWithTheExactGenerationWhileObserversAreKilled() throws {
    let seed = TestSeed(for: "aMillionPostsToObserversOfWhomSomeAreKilled")
    var random = seed.generator
    let world = try NotifyWorld()
    let total = 1_000_000
    func observer() throws -> RunningProgram {
      let observer = try world.worker("observe", "a", "until=\(total)")
      try observer.waitForOutput("ready")
      return observer
    }
    var observers = try (1...16).map { _ in try observer() }
    let posters = try (1...4).map { _ in
      try world.worker("post", "a", "count=\(total / 4)", "pauseUs=100", "pauseEvery=10")
    }
    var kills = 0
    while posters.contains(where: { $0.process.status == nil }) {
      let index = Int.random(in: 0..<observers.count, using: &random)
      switch Int.random(in: 0..<4, using: &random) {
      case 0: observers[index].process.send(signal: Signal.stop)
      case 1: for observer in observers { observer.process.send(signal: Signal.continue) }
      default:
        try observers[index].end(with: 9)
        observers[index] = try observer()
        kills += 1
      }
    }
    for poster in posters { #expect(try poster.finish().output.contains("posted")) }
    // All of them first, because a stopped one may hold what others wait for.
    for observer in observers { observer.process.send(signal: Signal.continue) }
    for observer in observers {
      let result = try observer.finish()
      #expect(result.output.hasSuffix("done \(total)\n"), "\(seed.replay)")
      #expect(!result.output.contains("wrong"), "\(seed.replay)")
    }
    #expect(try world.center.generation(of: name("a")) == UInt64(total), "\(seed.replay)")
    #expect(kills > 0, "\(seed.replay)")
    #expect(try world.center.list().first { $0.name.text == "a" }?.observers == [])
  }
}
