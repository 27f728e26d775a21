import Platform
import TestSupport
import Testing

@testable import GroupSemaphores

/// The holders of a recoverable semaphore.
@Suite struct HoldingTests {
  @Test func releasedObjectFreesItsPermits() throws {
    let world = try SemaphoreWorld()
    let semaphore = try world.make(3, recoverable: true)
    do {
      let other = try world.open()
      #expect(try other.tryWait())
      #expect(try other.tryWait())
      #expect(other.heldCount == 2)
      #expect(try semaphore.value() == 1)
    }
    #expect(try semaphore.value() == 3)
  }

  @Test func statusListsHoldersWithTheirCounts() throws {
    let world = try SemaphoreWorld()
    let semaphore = try world.make(4, recoverable: true)
    let holder = try world.worker("hold", "count=2")
    try holder.waitForOutput("holding")
    #expect(try semaphore.tryWait())
    let status = try semaphore.status()
    #expect(status.value == 1)
    let expected: Set = [
      SemaphoreStatus.Holder(processID: holder.processID, count: 2),
      SemaphoreStatus.Holder(processID: currentProcessID(), count: 1),
    ]
    #expect(Set(status.holders) == expected)
  }

  @Test func permitsLeftTakenOutliveTheirHolderUntilAPost() throws {
    let world = try SemaphoreWorld()
    let semaphore = try world.make(1, recoverable: true)
    do {
      let other = try world.open()
      #expect(try other.tryWait())
      other.leaveTaken()
      #expect(other.heldCount == 0)
    }
    #expect(try semaphore.value() == 0)
    #expect(try semaphore.status().takenCount == 1)
    try semaphore.post()
    #expect(try semaphore.status().takenCount == 0)
    #expect(try semaphore.value() == 1)
  }

  @Test func stoppedHolderKeepsItsPermit() throws {
    let world = try SemaphoreWorld()
    let semaphore = try world.make(1, recoverable: true)
    let holder = try world.worker("hold")
    try holder.waitForOutput("holding")
    holder.process.send(signal: 19)
    #expect(try semaphore.wait(until: .after(.milliseconds(600))) == .timedOut)
    #expect(try semaphore.value() == 0)
    holder.process.send(signal: 18)
  }

  @Test func threadsShareOneObject() throws {
    let world = try SemaphoreWorld()
    let semaphore = try world.make(3, recoverable: true)
    let ended = try StopSignal()
    let left = PrivateFutexWord()
    for _ in 1...8 {
      try startThread(named: "taker") {
        for _ in 1...200 {
          guard (try? semaphore.wait()) == .taken, (try? semaphore.post()) != nil else { break }
        }
        left.increment()
        if left.load() == 8 { ended.raise() }
      }
    }
    #expect(try waitUntilReadable([ended.descriptorNumber], until: .after(.seconds(60))) == [true])
    #expect(try semaphore.value() == 3)
    #expect(semaphore.heldCount == 0)
  }

  @Test func holderBeyondTheMaximumIsRefused() throws {
    let world = try SemaphoreWorld()
    _ = try world.make(1, recoverable: true)
    // A process with the file open takes the locks of all entries.
    let lock =
      "import fcntl, time; f = open('\(world.path)', 'r+b');"
      + " fcntl.lockf(f, fcntl.LOCK_EX, 4096, 4096); print('locked', flush=True); time.sleep(600)"
    let stranger = try RunningProgram("python3", ["-c", lock])
    try stranger.waitForOutput("locked")
    let semaphore = try world.open()
    #expect(throws: SemaphoreError.tooManyHolders(world.name, maximum: 1024)) {
      try semaphore.tryWait()
    }
    try stranger.end(with: 9)
    #expect(try semaphore.tryWait())
  }
}
