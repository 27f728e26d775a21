import Platform
import Synchronization
import TestSupport
import Testing

@testable import NotifyCenter

/// Posts at the moments at which the hand-shake could lose one. Observers check for posts only when
/// rung.
@Suite(.serialized) struct HandShakeTests {
  @Test(arguments: [NotifyStep.drained, .armed])
  func postsDuringAWakeUpAreDeliveredWithoutAnotherRing(_ step: NotifyStep) throws {
    let world = try NotifyWorld()
    let poster = try world.center.poster(of: name("a"))
    let inbox = Inbox()
    let hasPosted = Atomic<Bool>(false)
    let hasRung = PrivateFutexWord()
    let center = try NotifyCenter(
      world.group, role: .host, isSystem: false, recheckInterval: .seconds(3600),
      onStep: { now in
        guard now == step, !hasPosted.exchange(true, ordering: .relaxed) else { return }
        // From here on the poster counts the observer as rung, and rings no more.
        while hasRung.load() == 0 { yieldProcessor() }
        _ = try? poster.post()
      })
    let observation = try center.observe("a", inbox)
    try poster.post()
    hasRung.store(1)
    try inbox.wait(forPosts: 2)
    try poster.post()
    try inbox.wait(forPosts: 3)
    #expect(inbox.posts == 3)
    observation.cancel()
  }

  @Test func postsDuringRegistrationAreDeliveredOrPrecedeIt() throws {
    let world = try NotifyWorld()
    let poster = try world.center.poster(of: name("a"))
    // So that the poster knows the registrations before it scans for them.
    try poster.post()
    let inbox = Inbox()
    for step in [NotifyStep.seatTaken, .epochRaised, .marked] {
      let center = try NotifyCenter(
        world.group, role: .host, isSystem: false, recheckInterval: .seconds(3600),
        onStep: { now in if now == step { _ = try? poster.post() } })
      let before = inbox.posts
      let observation = try center.observe("a", inbox)
      try inbox.wait(forPosts: before + 1)
      try poster.post()
      try inbox.wait(forPosts: before + 2)
      observation.cancel()
    }
  }

  @Test func cancelWaitsForAClosureThatIsRunning() throws {
    let world = try NotifyWorld()
    let (hasBegun, mayEnd, hasEnded) = (PrivateFutexWord(), PrivateFutexWord(), PrivateFutexWord())
    let observation = try world.center.observe(name("a")) { _ in
      hasBegun.store(1)
      while mayEnd.load() == 0 { yieldProcessor() }
      hasEnded.store(1)
    }
    try world.center.post("a")
    try waitUntil("the closure runs") { hasBegun.load() == 1 }
    // Releases the closure while the other thread waits in `cancel`.
    try startThread(named: "release") {
      sleep(until: .after(.milliseconds(50)))
      mayEnd.store(1)
    }
    observation.cancel()
    #expect(hasEnded.load() == 1)
  }
}
