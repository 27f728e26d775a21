import Foundation
import Platform
import TestSupport
import Testing

@testable import GroupSemaphores

/// Events that wake a sleeper at once, without its regular check (250 ms), which is disabled here.
@Suite struct SleepingTests {
  enum Cause: CaseIterable { case post, postByC, stop, removal }

  @Test(arguments: Cause.allCases, [false, true])
  func sleeperIsWokenBy(_ cause: Cause, recoverable: Bool) throws {
    // C programs can use plain semaphores only.
    if cause == .postByC && recoverable { return }
    let world = try SemaphoreWorld()
    let semaphore = try world.make(0, recoverable: recoverable)
    let stop = try StopSignal()
    let woken = try StopSignal()
    let name = "sleeper" + String(UInt32.random(in: 0...(.max)), radix: 36)
    try startThread(named: name) {
      if recoverable {
        semaphore.file.sleepForPermit(since: semaphore.file.bell, stop: stop, until: .never)
      } else {
        semaphore.file.sleepForPosixCount(stop: stop, until: .never)
      }
      woken.raise()
    }
    try waitUntil("the thread sleeps") { try isAsleep(threadNamed: name) }
    switch cause {
    case .post: try semaphore.post()
    case .postByC: try world.peer("post").finish()
    case .stop: stop.raise()
    case .removal: try GroupSemaphore.remove(world.name, in: world.group)
    }
    #expect(try waitUntilReadable([woken.descriptorNumber], until: .after(.seconds(60))) == [true])
  }
}
