import AppGroup
import GroupSemaphores
import Platform
import TestSupport
import Testing

/// Semaphores between real processes.
@Suite struct SemaphoreTests {
  @Test(arguments: [false, true])
  func waitTakesUntilTheCountIsZeroAndPostReleases(recoverable: Bool) throws {
    let world = try SemaphoreWorld()
    let semaphore = try world.make(2, recoverable: recoverable)
    #expect(try semaphore.value() == 2)
    #expect(try semaphore.tryWait())
    #expect(try semaphore.wait() == .taken)
    #expect(try !semaphore.tryWait())
    #expect(try semaphore.wait(until: .after(.milliseconds(20))) == .timedOut)
    try semaphore.post()
    #expect(try semaphore.value() == 1)
    #expect(try world.open().tryWait())
  }

  @Test(arguments: [false, true])
  func postWakesAWaiterInAnotherProcess(recoverable: Bool) throws {
    let world = try SemaphoreWorld()
    let semaphore = try world.make(0, recoverable: recoverable)
    let waiter = try world.worker("hold")
    try waiter.waitUntilAsleep()
    try semaphore.post()
    try waiter.waitForOutput("holding")
  }

  @Test(arguments: [false, true])
  func raisedStopEndsAWait(recoverable: Bool) throws {
    let world = try SemaphoreWorld()
    let semaphore = try world.make(0, recoverable: recoverable)
    let stop = try StopSignal()
    try startThread(named: "stop") { stop.raise() }
    #expect(try semaphore.wait(stop: stop) == .stopped)
    // Later waits are stopped too, but an available count is taken.
    #expect(try semaphore.wait(stop: stop) == .stopped)
    try semaphore.post()
    #expect(try semaphore.wait(stop: stop) == .taken)
  }

  @Test(arguments: [false, true])
  func removalEndsEveryWaitAndEveryUse(recoverable: Bool) throws {
    let world = try SemaphoreWorld()
    let semaphore = try world.make(0, recoverable: recoverable)
    let waiters = try (1...2).map { _ in try world.worker("hold") }
    for waiter in waiters { try waiter.waitUntilAsleep() }
    try GroupSemaphore.remove(world.name, in: world.group)
    for waiter in waiters {
      try waiter.waitForOutput("error the semaphore gate was removed")
      #expect(try waiter.finish().status == .exited(1))
    }
    #expect(throws: SemaphoreError.removed(world.name)) { try semaphore.post() }
    #expect(throws: SemaphoreError.removed(world.name)) { try semaphore.tryWait() }
    #expect(throws: SemaphoreFileError.unknown(world.name)) { try world.open() }
    // A new semaphore of the same name is a different one.
    try world.make(1, recoverable: recoverable).post()
    #expect(throws: SemaphoreError.removed(world.name)) { try semaphore.value() }
  }

  @Test func removalOfTheGroupEndsAWait() throws {
    let world = try SemaphoreWorld()
    _ = try world.make(0)
    let waiter = try world.worker("hold")
    try waiter.waitUntilAsleep()
    try AppGroup.remove(world.group.id, root: world.root.path)
    try waiter.waitForOutput("error the semaphore gate was removed")
  }

  @Test func oneOfSeveralConcurrentCreatorsSucceeds() throws {
    let world = try SemaphoreWorld()
    let makers = try (1...8).map { try world.worker("create", "value=\($0)") }
    let results = try makers.map { try $0.finish() }
    #expect(results.count { $0.output.contains("created gate") } == 1)
    #expect(results.count { $0.output.contains("the semaphore gate exists already") } == 7)
    #expect(try (1...8).contains(world.open().value()))
    #expect(try Directory(path: world.group.semaphoresPath).names() == ["gate.semaphore"])
  }

  @Test func cProgramsShareThePlainSemaphoreThroughGlibc() throws {
    let world = try SemaphoreWorld()
    let semaphore = try world.make(0)
    // Either side wakes the other's sleepers.
    let cWaiter = try world.peer("wait", "60000")
    try cWaiter.waitUntilAsleep()
    try semaphore.post()
    #expect(try cWaiter.finish().output.hasSuffix("taken\n"))
    let swiftWaiter = try world.worker("hold")
    try swiftWaiter.waitUntilAsleep()
    #expect(try world.peer("post").finish().status == .exited(0))
    try swiftWaiter.waitForOutput("holding")
    try semaphore.post()
    try semaphore.post()
    #expect(try world.peer("value").finish().output == "2\n")
    #expect(try world.peer("wait", "0").finish().status == .exited(0))
    #expect(try semaphore.value() == 1)
  }

  @Test func postBeyondTheMaximumFails() throws {
    let world = try SemaphoreWorld()
    let plain = try world.make(semaphoreValueMaximum)
    #expect(throws: SemaphoreError.full(world.name, maximum: 2_147_483_647)) { try plain.post() }
    #expect(try plain.tryWait())
    try plain.post()
    let other = try SemaphoreWorld()
    let recoverable = try other.make(1024, recoverable: true)
    #expect(throws: SemaphoreError.full(other.name, maximum: 1024)) { try recoverable.post() }
    #expect(try recoverable.value() == 1024)
  }

  @Test(arguments: [(-1, false), (2_147_483_648, false), (-1, true), (1025, true)])
  func initialCountIsChecked(_ value: Int, recoverable: Bool) throws {
    let world = try SemaphoreWorld()
    let maximum = recoverable ? 1024 : semaphoreValueMaximum
    #expect(throws: SemaphoreFileError.wrongValue(value, maximum: maximum)) {
      try world.make(value, recoverable: recoverable)
    }
    #expect(try GroupSemaphore.list(in: world.group).isEmpty)
  }

  @Test(arguments: [
    "", "A", "../up", "a/b", ".hidden", "-x", "é", String(repeating: "n", count: 49),
  ])
  func nameIsChecked(_ text: String) {
    #expect(throws: SemaphoreNameError.self) { try SemaphoreName(text) }
  }

  @Test func listContainsAllSemaphores() throws {
    let world = try SemaphoreWorld()
    _ = try world.make(3)
    let other = try SemaphoreName("a.second_one-2")
    _ = try GroupSemaphore.create(other, in: world.group, recoverable: true)
    let listed = try GroupSemaphore.list(in: world.group)
    #expect(listed.map(\.name) == [other, world.name])
    #expect(listed.map(\.status?.value) == [1, 3])
    #expect(listed.map(\.status?.isRecoverable) == [true, false])
  }
}
