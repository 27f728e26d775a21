import Platform
import TestSupport
import Testing

@testable import GroupSemaphores

/// SIGKILL at every numbered step (docs/design/semaphores.md): a recoverable semaphore neither
/// loses nor gains permits, and waiters proceed.
@Suite(.serialized) struct SemaphoreKillTests {
  private static let total = 3

  @Test(arguments: [SemaphoreStep.entryLocked, .entryClaimed, .permitTaken])
  func waiterKilledAt(_ step: SemaphoreStep) throws {
    let world = try SemaphoreWorld()
    let semaphore = try world.make(Self.total, recoverable: true)
    for _ in 1...Self.total { #expect(try semaphore.tryWait()) }
    let waiter = try world.worker("hold")
    try waiter.waitUntilAsleep()
    let victim = try world.worker("hold", "killAt=\(step.rawValue)")
    if step == .permitTaken {
      // Of the two permits that are free now, one is the victim's and one the waiter's.
      try victim.waitForOutput("waiting")
      try semaphore.post()
      try semaphore.post()
    }
    try expectKilled(victim, at: step)
    if step != .permitTaken { try semaphore.post() }
    try waiter.waitForOutput("holding")
    try waiter.end(with: 9)
    try expectAllBack(world, semaphore)
  }

  @Test(arguments: [SemaphoreStep.permitFreed, .bellRung])
  func posterKilledAt(_ step: SemaphoreStep) throws {
    let world = try SemaphoreWorld()
    let semaphore = try world.make(Self.total - 1, recoverable: true)
    for _ in 1..<Self.total { #expect(try semaphore.tryWait()) }
    let waiter = try world.worker("hold")
    try waiter.waitUntilAsleep()
    let victim = try world.worker("post", "killAt=\(step.rawValue)")
    try expectKilled(victim, at: step)
    try waiter.waitForOutput("holding")
    try waiter.end(with: 9)
    try expectAllBack(world, semaphore)
  }

  @Test(arguments: [SemaphoreStep.permitFreed, .bellRung])
  func holderKilledWhilePostingAt(_ step: SemaphoreStep) throws {
    let world = try SemaphoreWorld()
    let semaphore = try world.make(Self.total, recoverable: true)
    let victim = try world.worker("hold", "killAt=\(step.rawValue)", "count=2", "post=2")
    try expectKilled(victim, at: step)
    try expectAllBack(world, semaphore)
  }

  /// A process that reclaims from a dead holder dies itself, at each step.
  @Test(arguments: [
    (SemaphoreStep.deadHolderFound, 1), (.permitFreed, 1), (.permitFreed, 2), (.permitFreed, 3),
    (.bellRung, 1), (.deadHolderCleared, 1),
  ])
  func reclaimerKilledAt(_ step: SemaphoreStep, _ nth: Int) throws {
    let world = try SemaphoreWorld()
    let semaphore = try world.make(Self.total, recoverable: true)
    let holder = try world.worker("hold", "count=\(Self.total)")
    try holder.waitForOutput("holding")
    try holder.end(with: 9)
    let helper = try world.worker("value", "killAt=\(step.rawValue)", "nth=\(nth)")
    try expectKilled(helper, at: step)
    try expectAllBack(world, semaphore)
  }

  /// The same for a process that claims the dead holder's entry.
  @Test(arguments: [
    (SemaphoreStep.entryLocked, 1), (.permitFreed, 2), (.bellRung, 1), (.entryClaimed, 1),
  ])
  func successorKilledAt(_ step: SemaphoreStep, _ nth: Int) throws {
    let world = try SemaphoreWorld()
    let semaphore = try world.make(Self.total, recoverable: true)
    let holder = try world.worker("hold", "count=\(Self.total)")
    try holder.waitForOutput("holding")
    try holder.end(with: 9)
    let successor = try world.worker("hold", "killAt=\(step.rawValue)", "nth=\(nth)")
    try expectKilled(successor, at: step)
    try expectAllBack(world, semaphore)
  }

  @Test func successorInADeadHoldersEntryHoldsOnlyWhatItTakes() throws {
    let world = try SemaphoreWorld()
    let semaphore = try world.make(Self.total, recoverable: true)
    let holder = try world.worker("hold", "count=\(Self.total)")
    try holder.waitForOutput("holding")
    try holder.end(with: 9)
    let successor = try world.worker("hold")
    try successor.waitForOutput("holding")
    #expect(
      try semaphore.status().holders == [.init(processID: successor.processID, count: 1)])
    try successor.end(with: 9)
    try expectAllBack(world, semaphore)
  }

  @Test(arguments: [SemaphoreStep.fileMade, .fileWritten, .fileNamed], [false, true])
  func creatorKilledAt(_ step: SemaphoreStep, recoverable: Bool) throws {
    let world = try SemaphoreWorld()
    let maker = try world.worker(
      "create", "value=2", "recover=\(recoverable ? 1 : 0)", "killAt=\(step.rawValue)")
    try expectKilled(maker, at: step)
    if step == .fileNamed {
      #expect(try world.open().value() == 2)
    } else {
      #expect(try GroupSemaphore.list(in: world.group).isEmpty)
      #expect(try world.make(2, recoverable: recoverable).value() == 2)
    }
  }

  @Test func sleepingWaiterNoticesTheDeathOfTheHolder() throws {
    let world = try SemaphoreWorld()
    _ = try world.make(1, recoverable: true)
    let holder = try world.worker("hold")
    try holder.waitForOutput("holding")
    let waiters = try (1...3).map { _ in try world.worker("hold") }
    for waiter in waiters { try waiter.waitUntilAsleep() }
    // The permit goes from one waiter to the next, each killed while it holds it.
    try holder.end(with: 9)
    var rest = waiters
    while !rest.isEmpty {
      try waitUntil("a waiter holds the permit") {
        rest.contains { $0.output.text.contains("holding") }
      }
      let index = try #require(rest.firstIndex { $0.output.text.contains("holding") })
      #expect(rest.count { $0.output.text.contains("holding") } == 1)
      try rest.remove(at: index).end(with: 9)
    }
    #expect(try world.open().wait(until: .after(.seconds(60))) == .taken)
  }

  @Test func deadHolderOfAPlainSemaphoreKeepsItsCountAsPosixSpecifies() throws {
    let world = try SemaphoreWorld()
    let semaphore = try world.make(1)
    let victim = try world.worker("hold", "killAt=\(SemaphoreStep.countTaken.rawValue)")
    try expectKilled(victim, at: .countTaken)
    #expect(try semaphore.wait(until: .after(.milliseconds(600))) == .timedOut)
    // The semaphore is not stuck: any member can post.
    try semaphore.post()
    #expect(try semaphore.tryWait())
  }

  @Test func countOfAPosterKilledBeforeItsWakeIsStillAcquired() throws {
    let world = try SemaphoreWorld()
    _ = try world.make(0)
    let waiter = try world.worker("hold")
    try waiter.waitUntilAsleep()
    let poster = try world.worker("post", "killAt=\(SemaphoreStep.countPosted.rawValue)")
    try expectKilled(poster, at: .countPosted)
    try waiter.waitForOutput("holding")
  }

  @Test func randomKillsLoseNoPermit() throws {
    let seed = TestSeed(for: "randomKillsLoseNoPermit")
    var random = seed.generator
    let world = try SemaphoreWorld()
    let semaphore = try world.make(Self.total, recoverable: true)
    var workers = try (1...6).map { try world.worker("work", "seed=\($0)") }
    for round in 1...40 {
      let index = Int.random(in: 0..<workers.count, using: &random)
      try workers[index].waitForOutput("working")
      sleep(until: .after(.microseconds(Int.random(in: 0...3000, using: &random))))
      try workers[index].end(with: 9)
      workers[index] = try world.worker("work", "seed=\(100 + round)")
    }
    for worker in workers { try worker.end(with: 9) }
    #expect(try semaphore.value() == Self.total, "\(seed.replay)")
    #expect(try semaphore.status().holders == [], "\(seed.replay)")
  }

  // MARK: Expected state

  private func expectKilled(_ victim: RunningProgram, at step: SemaphoreStep) throws {
    try victim.waitForOutput("killed at \(step)")
    #expect(try victim.finish().status == .killed(signal: 9))
  }

  /// Once no process holds a permit, all permits are available to every member.
  private func expectAllBack(
    _ world: SemaphoreWorld, _ semaphore: GroupSemaphore
  ) throws {
    while semaphore.heldCount > 0 { try semaphore.post() }
    #expect(try world.open().value() == Self.total)
    #expect(try semaphore.status().holders == [])
    let last = try world.worker("hold", "count=\(Self.total)", "post=\(Self.total)")
    #expect(try last.finish().output.hasSuffix("posted\n"))
    #expect(try semaphore.value() == Self.total)
  }
}
