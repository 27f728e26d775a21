import AppGroup
import Foundation
import Platform
import TestSupport
import Testing

@testable import GroupSemaphores

/// A member with write access to a semaphore's file cannot crash another member or keep it waiting
/// past its deadline.
@Suite(.serialized) struct SemaphoreHostileTests {
  @Test(arguments: [false, true])
  func truncatedFileFailsUsersAndWaiters(recoverable: Bool) throws {
    let world = try SemaphoreWorld()
    let semaphore = try world.make(0, recoverable: recoverable)
    let waiter = try world.worker("hold")
    try waiter.waitUntilAsleep()
    try output(of: "truncate", ["--size=0", world.path])
    try waiter.waitForOutput("error the semaphore gate is damaged: its file")
    #expect(try waiter.finish().status == .exited(1))
    #expect(throws: SemaphoreError.self) { try semaphore.post() }
    #expect(throws: SemaphoreFileError.self) { try world.open() }
    try GroupSemaphore.remove(world.name, in: world.group)
    #expect(try world.make(1, recoverable: recoverable).value() == 1)
  }

  @Test(arguments: [false, true])
  func repeatedTruncationInUseKillsNoProcess(recoverable: Bool) throws {
    let world = try SemaphoreWorld()
    let attacker =
      "import os, time; end = time.monotonic() + 60\n"
      + "print('truncating', flush=True)\n"
      + "while time.monotonic() < end:\n"
      + " try: os.truncate('\(world.path)', 0); time.sleep(0.001)\n"
      + " except FileNotFoundError: continue\n"
      + " try: os.truncate('\(world.path)', 12288)\n"
      + " except FileNotFoundError: pass\n"
    let stranger = try RunningProgram("python3", ["-c", attacker])
    try stranger.waitForOutput("truncating")
    var lost = 0
    while lost < 20 && stranger.process.status == nil {
      let semaphore = try world.make(1, recoverable: recoverable)
      do {
        while stranger.process.status == nil {
          _ = try semaphore.tryWait()
          try semaphore.post()
        }
      } catch {
        if "\(error)".contains("while in use") { lost += 1 }
      }
      try GroupSemaphore.remove(world.name, in: world.group)
    }
    try stranger.end(with: 9)
    // This process has met the fault itself, not only a wrong size. A slow machine has fewer.
    #expect(lost > 0)
  }

  @Test(arguments: [false, true])
  func randomBytesInTheFileNeitherCrashNorBlockMembers(recoverable: Bool) throws {
    let seed = TestSeed(for: "randomBytesInTheFileNeitherCrashNorBlockMembers")
    let world = try SemaphoreWorld()
    let semaphore = try world.make(1, recoverable: recoverable)
    let stranger = try world.peer("scribble", "\(seed.value)", "1500")
    try stranger.waitForOutput("scribbling")
    var outcomes: Set<String> = []
    while stranger.process.status == nil {
      do {
        outcomes.insert("\(try semaphore.wait(until: .after(.milliseconds(5))))")
        try semaphore.post()
      } catch {
        outcomes.insert("error")
      }
      _ = try? semaphore.status()
      _ = try? GroupSemaphore.list(in: world.group)
    }
    #expect(outcomes.count > 1, "\(outcomes) \(seed.replay)")
    try GroupSemaphore.remove(world.name, in: world.group)
    #expect(try world.make(1, recoverable: recoverable).tryWait())
  }

  /// glibc's own sem_post(3) aborts in this case.
  @Test func corruptedWaitFlagsAreNotRead() throws {
    let world = try SemaphoreWorld()
    let semaphore = try world.make(1)
    #expect(try world.peer("poison").finish().status == .exited(0))
    #expect(try world.peer("post").finish().status == .killed(signal: SIGABRT))
    try semaphore.post()
    #expect(try semaphore.wait(until: .after(.milliseconds(20))) == .taken)
    while try semaphore.tryWait() {}
    #expect(try semaphore.wait(until: .after(.milliseconds(20))) == .timedOut)
  }

  @Test(arguments: [false, true])
  func sleeperMovedToAnotherWordStillAcquires(recoverable: Bool) throws {
    let world = try SemaphoreWorld()
    let semaphore = try world.make(0, recoverable: recoverable)
    let waiter = try world.worker("hold")
    try waiter.waitUntilAsleep()
    let thief = try world.peer("steal")
    try thief.waitForOutput("stolen")
    try semaphore.post()
    try waiter.waitForOutput("holding")
    try thief.end(with: 9)
  }

  @Test func hardLinkDoesNotPreventOpening() throws {
    let world = try SemaphoreWorld()
    let semaphore = try world.make(1)
    try output(of: "ln", [world.path, world.path + ".more"])
    #expect(try world.open().tryWait())
    try semaphore.post()
    #expect(try GroupSemaphore.list(in: world.group).map(\.problem) == [nil])
  }

  // Each command puts something else at the semaphore's path.
  @Test(arguments: [
    ("mkfifo PATH", "it is a fifo, not a file"),
    ("mkdir PATH", "it is a directory, not a file"),
    ("ln -s /dev/zero PATH", "it is a symbolic link, not a file"),
    ("head -c 4096 OTHER > PATH", "it has 4096 bytes, not 12288"),
    ("head -c 12288 /dev/zero > PATH", "its magic number is wrong"),
    ("cp OTHER PATH; printf '\\377' | dd of=PATH bs=1 seek=12 conv=notrunc", "header is malformed"),
    ("cp OTHER PATH; printf '\\377' | dd of=PATH bs=1 seek=19 conv=notrunc", "header is malformed"),
    (
      "cp OTHER PATH; printf '\\002' | dd of=PATH bs=1 seek=8 conv=notrunc",
      "another FrameBus (version 2)"
    ),
    ("cp OTHER PATH; chown 4242 PATH", "uid 4242, who is not a member of the group"),
  ])
  func invalidFileIsRefusedListedAndRemoved(_ command: String, _ why: String) throws {
    if command.contains("chown") && !TestUser.canBeCreated { return }
    let world = try SemaphoreWorld()
    let other = try SemaphoreName("other")
    _ = try GroupSemaphore.create(other, in: world.group)
    let line = command.replacingOccurrences(of: "PATH", with: world.path).replacingOccurrences(
      of: "OTHER", with: world.path.replacingOccurrences(of: "gate", with: "other"))
    try output(of: "sh", ["-c", line])
    let error = #expect(throws: SemaphoreFileError.self) { try world.open() }
    #expect("\(error as Any)".contains(why))
    let listed = try GroupSemaphore.list(in: world.group)
    #expect(listed.map(\.name) == [world.name, other])
    #expect(listed[0].problem?.contains(why) == true)
    try GroupSemaphore.remove(world.name, in: world.group)
    #expect(try world.make().value() == 1)
  }

  @Test func onlyOldTemporaryFilesAreRemoved() throws {
    let world = try SemaphoreWorld()
    let maker = try world.worker("create", "killAt=\(SemaphoreStep.fileMade.rawValue)")
    try maker.waitForOutput("killed at")
    let directory = try Directory(path: world.group.semaphoresPath)
    let name = try #require(directory.names().first)
    _ = try world.make()
    #expect(try directory.names() == [name, "gate.semaphore"])
    // A temporary file counts as abandoned only because of its age, one minute.
    try SemaphoreFile.sweep(directory, changedBeforeNs: .max)
    #expect(try directory.names() == ["gate.semaphore"])
  }
}
