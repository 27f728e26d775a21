import Platform
import Synchronization
import TestSupport
import Testing

@testable import NotifyCenter

/// Posting and observing, in one process and in several.
@Suite(.serialized) struct NotifyTests {
  @Test func postReachesAClosureInAnotherProcess() throws {
    let world = try NotifyWorld()
    let observer = try world.worker("observe", "a.b")
    try observer.waitForOutput("ready")
    #expect(try world.center.post("a.b") == 1)
    try observer.waitForOutput(
      "delivery 1 of 1 state 0 by \(currentProcessID()) \(currentUserID())")
    #expect(try world.center.post("a.b") == 2)
    try observer.waitForOutput("delivery 2 of 1")
  }

  @Test func postingWithoutObserversSucceedsAndIsCounted() throws {
    let world = try NotifyWorld()
    for count in 1...3 { #expect(try world.center.post("a") == UInt64(count)) }
    #expect(try world.newCenter().generation(of: name("a")) == 3)
    #expect(try world.newCenter().generation(of: name("b")) == 0)
  }

  @Test func observerRegisteredBetweenTwoPostsReceivesOnlyTheSecond() throws {
    let world = try NotifyWorld()
    let inbox = Inbox()
    try world.center.post("a")
    let observation = try world.newCenter().observe("a", inbox)
    #expect(try world.worker("post", "a").finish().output.contains("posted 2"))
    try inbox.wait(forPosts: 1)
    #expect(inbox.deliveries.map(\.generation) == [2])
    observation.cancel()
  }

  @Test func settingStateNotifiesNoObserver() throws {
    let world = try NotifyWorld()
    let inbox = Inbox()
    let observation = try world.center.observe("a", inbox)
    #expect(try world.center.state(of: name("a")) == 0)
    #expect(try world.worker("state", "a", "set=77").finish().output == "state 77\n")
    #expect(try world.center.state(of: name("a")) == 77)
    try world.center.post("a")
    try inbox.wait(forPosts: 1)
    #expect(inbox.deliveries.map(\.state) == [77])
    #expect(inbox.deliveries.map(\.coalesced) == [1])
    observation.cancel()
  }

  @Test func firstCheckIsTrueAndLaterOnesOnlyAfterPosts() throws {
    let world = try NotifyWorld()
    let observation = try world.center.observeByCheck(name("a"))
    #expect(observation.check())
    #expect(!observation.check())
    _ = try world.worker("post", "a", "count=5").finish()
    #expect(observation.check())
    #expect(!observation.check())
    #expect(try observation.take()?.coalesced == 5)
    #expect(try observation.take() == nil)
  }

  @Test func descriptorIsReadableFromPostUntilTake() throws {
    let world = try NotifyWorld()
    let observation = try world.center.observeByDescriptor(name("a"))
    let descriptor = try #require(observation.descriptor)
    #expect(try waitUntilReadable([descriptor], until: .now) == [false])
    let poster = try world.worker("post", "a")
    #expect(try waitUntilReadable([descriptor], until: .after(.seconds(60))) == [true])
    let delivery = try observation.take()
    #expect(delivery?.generation == 1)
    #expect(delivery?.poster?.pid == poster.processID)
    #expect(try waitUntilReadable([descriptor], until: .now) == [false])
    #expect(try observation.take() == nil)
    _ = try poster.finish()
  }

  @Test func sequenceCoalescesPostsAndEndsOnCancellation() throws {
    let world = try NotifyWorld()
    let deliveries = try world.center.deliveries(of: name("a"))
    for _ in 1...4 { try world.center.post("a") }
    let seen = Inbox()
    let isOver = PrivateFutexWord()
    Task.detached(executorPreference: LoneThreads()) {
      for await delivery in deliveries { seen.add(delivery) }
      isOver.store(1)
    }
    try seen.wait(forPosts: 4)
    try world.center.post("a")
    try seen.wait(forPosts: 5)
    deliveries.cancel()
    try waitUntil("the sequence is over") { isOver.load() == 1 }
    #expect(seen.deliveries.last?.generation == 5)
  }

  @Test func sequenceEndsWithItsTask() throws {
    let world = try NotifyWorld()
    let deliveries = try world.center.deliveries(of: name("a"))
    let isOver = PrivateFutexWord()
    let task = Task.detached(executorPreference: LoneThreads()) {
      for await _ in deliveries {}
      isOver.store(1)
    }
    task.cancel()
    try waitUntil("the task is over") { isOver.load() == 1 }
    withExtendedLifetime(deliveries) {}
  }

  @Test func suspensionsNestAndCoalescePosts() throws {
    let world = try NotifyWorld()
    let inbox = Inbox()
    let observation = try world.center.observe("a", inbox)
    try observation.suspend()
    try observation.suspend()
    for _ in 1...3 { try world.center.post("a") }
    try observation.resume()
    #expect(observation.isSuspended)
    try world.center.post("a")
    #expect(inbox.deliveries.isEmpty)
    try observation.resume()
    try inbox.wait(forPosts: 4)
    #expect(inbox.deliveries.map(\.coalesced) == [4])
    #expect(inbox.deliveries.first?.poster == nil)
    observation.cancel()
    #expect(throws: NotifyError.self) { try observation.suspend() }
  }

  @Test func untakenPostsBeforeASuspensionAreDeliveredAfterIt() throws {
    let world = try NotifyWorld()
    let observation = try world.center.observeByDescriptor(name("a"))
    let descriptor = try #require(observation.descriptor)
    try world.center.post("a")
    #expect(try waitUntilReadable([descriptor], until: .after(.seconds(60))) == [true])
    try observation.suspend()
    #expect(try observation.take() == nil)
    #expect(try waitUntilReadable([descriptor], until: .now) == [false])
    try observation.resume()
    #expect(try waitUntilReadable([descriptor], until: .after(.seconds(60))) == [true])
    #expect(try observation.take()?.coalesced == 1)
  }

  @Test func observationEndsWithItsLastReference() throws {
    let world = try NotifyWorld()
    final class Witness: Sendable {}
    let inbox = Inbox()
    weak var kept: Witness?
    var observation: Observation?
    do {
      let witness = Witness()
      kept = witness
      observation = try world.center.observe(name("a")) { delivery in
        withExtendedLifetime(witness) { inbox.add(delivery) }
      }
    }
    try world.center.post("a")
    try inbox.wait(forPosts: 1)
    #expect(kept != nil)
    withExtendedLifetime(observation) {}
    observation = nil
    #expect(kept == nil)
    try world.center.post("a")
    #expect(inbox.posts == 1)
  }

  @Test func observationsOutliveTheirCenter() throws {
    let world = try NotifyWorld()
    let inbox = Inbox()
    weak var gone: NotifyCenter?
    let observation: Observation
    do {
      let center = try world.newCenter()
      gone = center
      observation = try center.observe("a", inbox)
    }
    #expect(gone == nil)
    try world.center.post("a")
    try inbox.wait(forPosts: 1)
    observation.cancel()
  }

  @Test func removeEveryObserverCancelsAllObservations() throws {
    let world = try NotifyWorld()
    let inbox = Inbox()
    let center = try world.newCenter()
    let observations = try ["a", "b", "c"].map { try center.observe($0, inbox) }
    let checker = try center.observeByCheck(name("a"))
    center.removeEveryObserver()
    for name in ["a", "b", "c"] { try world.center.post(name) }
    #expect(try world.center.list().allSatisfy { $0.observers.isEmpty })
    #expect(inbox.deliveries.isEmpty)
    #expect(throws: NotifyError.self) { try checker.take() }
    withExtendedLifetime(observations) {}
  }

  @Test func closureMayHoldTheOnlyReferenceToItsObservation() throws {
    let world = try NotifyWorld()
    let center = try world.newCenter()
    final class Keeper: Sendable { let observation = Mutex<Observation?>(nil) }
    weak var kept: Keeper?
    do {
      let keeper = Keeper()
      kept = keeper
      let observation = try center.observe(name("a")) { _ in withExtendedLifetime(keeper) {} }
      keeper.observation.withLock { $0 = observation }
    }
    #expect(kept != nil)
    center.removeEveryObserver()
    #expect(kept == nil)
  }

  @Test func processNamesStayInTheProcess() throws {
    let world = try NotifyWorld()
    let inbox = Inbox()
    let observation = try world.newCenter().observe("self.a", inbox)
    #expect(try world.worker("post", "self.a").finish().output.contains("posted 1"))
    let count = try world.center.post("self.a")
    try inbox.wait(forPosts: 1)
    #expect(inbox.deliveries.map(\.generation) == [count])
    #expect(try !world.worker("list", "x").finish().output.contains("self.a"))
    observation.cancel()
  }

  @Test func listShowsCountsPostersAndObservers() throws {
    let world = try NotifyWorld()
    let observer = try world.worker("observe", "b")
    try observer.waitForOutput("ready")
    let poster = try world.worker("post", "a", "count=3")
    _ = try poster.finish()
    let list = try world.center.list().filter { !$0.name.text.hasPrefix("self.") }
    #expect(list.map(\.name.text) == ["a", "b"])
    #expect(list.map(\.generation) == [3, 0])
    #expect(list[0].lastPoster?.processID == poster.processID)
    #expect(list[1].lastPoster == nil)
    #expect(
      list[1].observers == [.init(processID: observer.processID, userID: currentUserID())])
    try observer.end(with: 9)
    #expect(try world.center.list().last { $0.name.text == "b" }?.observers == [])
  }
}
