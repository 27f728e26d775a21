import Platform
import TestSupport
import Testing

@testable import NotifyCenter

/// SIGKILL at every numbered step (docs/design/notifications.md): a post counts or it does not,
/// observers receive all that count, and a dead process blocks no successor.
@Suite(.serialized) struct NotifyKillTests {
  @Test(arguments: [NotifyStep.rowTaken, .rowNamed, .namePublished, .counted, .rung])
  func posterKilledAt(_ step: NotifyStep) throws {
    let world = try NotifyWorld(rechecks: true)
    // One waits for the row, and one keeps the wake thread out of it.
    let observer = try world.worker("observe", "a.other")
    try observer.waitForOutput("ready")
    let inbox = Inbox()
    let isFirst = step.rawValue <= NotifyStep.namePublished.rawValue
    let before = isFirst ? nil : try world.newCenter().observe("a", inbox)
    try expectKilled(world.worker("post", "a", "killAt=\(step.rawValue)"), at: step)
    let counted: UInt64 = isFirst ? 0 : 1
    #expect(try world.center.generation(of: name("a")) == counted)
    // No process rang after `counted`: the observer polls.
    if !isFirst { try inbox.wait(forPosts: counted) }
    let after = try before ?? world.newCenter().observe("a", inbox)
    #expect(try world.center.post("a") == counted + 1)
    try inbox.wait(forPosts: counted + 1)
    #expect(inbox.posts == counted + 1)
    #expect(try world.center.list().map(\.name.text).contains("a"))
    after.cancel()
    try observer.end(with: 9)
  }

  @Test(arguments: [
    NotifyStep.directoryMade, .directoryNamed, .seatLocked, .socketBound, .seatTaken, .epochRaised,
    .marked,
  ])
  func observerKilledDuringRegistrationAt(_ step: NotifyStep) throws {
    let world = try NotifyWorld()
    try expectKilled(world.worker("observe", "a", "killAt=\(step.rawValue)"), at: step)
    try expectAllWell(world)
  }

  @Test(arguments: [NotifyStep.drained, .armed])
  func observerKilledDuringWakeUpAt(_ step: NotifyStep) throws {
    let world = try NotifyWorld()
    let victim = try world.worker("observe", "a", "killAt=\(step.rawValue)")
    try victim.waitForOutput("ready")
    try world.center.post("a")
    try expectKilled(victim, at: step)
    try expectAllWell(world)
  }

  @Test func observerKilledDuringItsEnd() throws {
    for step in [NotifyStep.unmarked, .socketRemoved] {
      let world = try NotifyWorld()
      let victim = try world.worker("crowd", "a", "centers=1", "killAt=\(step.rawValue)")
      try victim.waitForOutput("ready")
      try world.center.post("a")
      _ = try victim.finish()
      try expectAllWell(world)
    }
  }

  @Test func successorOfADeadObserverReceivesOnlyItsOwnNames() throws {
    let world = try NotifyWorld()
    let victim = try world.worker("observe", "a")
    try victim.waitForOutput("ready")
    try victim.end(with: 9)
    let successor = try world.worker("observe", "b")
    try successor.waitForOutput("ready")
    let list = try world.center.list()
    #expect(list.first { $0.name.text == "a" }?.observers == [])
    #expect(list.first { $0.name.text == "b" }?.observers.map(\.processID) == [successor.processID])
    try world.center.post("b")
    try successor.waitForOutput("delivery 1 of 1")
    try successor.end(with: 9)
  }

  // MARK: Expected state afterwards

  private func expectKilled(_ victim: RunningProgram, at step: NotifyStep) throws {
    try victim.waitForOutput("killed at \(step)")
    #expect(try victim.finish().status == .killed(signal: 9))
  }

  /// A successor can observe, and receives each post.
  private func expectAllWell(_ world: NotifyWorld) throws {
    let observer = try world.worker("observe", "a")
    try observer.waitForOutput("ready")
    let count = try world.center.post("a")
    try observer.waitForOutput("delivery \(count) of 1")
    #expect(
      try world.center.list().first { $0.name.text == "a" }?.observers.map(\.processID)
        == [observer.processID])
    try observer.end(with: 9)
  }
}
