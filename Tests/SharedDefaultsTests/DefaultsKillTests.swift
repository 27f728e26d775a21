import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Platform
@testable import SharedDefaults

/// SIGKILL and SIGSTOP at every numbered step of a change (docs/design/defaults-journal.md). The
/// change is applied completely or not at all, all processes agree, and the next change succeeds.
@Suite(.serialized) struct DefaultsKillTests {
  /// The change is appended before a long journal is replaced.
  private static let counting: Set<DefaultsStep> = [
    .extentMoved, .rung, .prepared, .retired, .replaced,
  ]

  private func expectKilled(_ victim: RunningProgram, at step: DefaultsStep) throws {
    try victim.waitForOutput("killed at \(step)")
    #expect(try victim.finish().status == .killed(signal: 9))
  }

  /// Earlier and new readers see the same values, and the suite can be changed.
  private func expectWhole(
    _ world: DefaultsWorld, _ early: SharedDefaults, after step: DefaultsStep
  ) throws {
    let expected: DefaultsValue = Self.counting.contains(step) ? "new" : "old"
    for defaults in [early, try world.open()] {
      #expect(defaults.value(forKey: "key") == expected)
      #expect(defaults.value(forKey: "twin") == expected)
    }
    try early.set("next", forKey: "key")
    #expect(try world.open().value(forKey: "key") == "next")
    #expect(try world.open().value(forKey: "twin") == expected)
    #expect(early.value(forKey: "key") == "next")
  }

  @Test(arguments: [DefaultsStep.locked, .recordWritten, .extentMoved, .rung])
  func writerKilledWhileAppending(at step: DefaultsStep) throws {
    let world = try DefaultsWorld()
    let early = try world.open()
    try early.set("old", forKey: "key")
    try early.set("old", forKey: "twin")
    try expectKilled(world.worker("set", "killAt=\(step.rawValue)"), at: step)
    try expectWhole(world, early, after: step)
  }

  @Test(arguments: [DefaultsStep.prepared, .retired, .replaced])
  func writerKilledWhileReplacingTheFile(at step: DefaultsStep) throws {
    let world = try DefaultsWorld()
    let early = try world.open()
    try early.set("old", forKey: "key")
    try early.set("old", forKey: "twin")
    try expectKilled(
      world.worker("set", "killAt=\(step.rawValue)", "bytes=100000"), at: step)
    try expectWhole(world, early, after: step)
  }

  /// A journal that is broken is replaced before the change, under the lock.
  @Test(arguments: [DefaultsStep.retired, .replaced])
  func writerKilledWhileReplacingABrokenFile(at step: DefaultsStep) throws {
    let world = try DefaultsWorld()
    try world.open().set("old", forKey: "key")
    try world.open().set("old", forKey: "twin")
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: world.path))
    let size = try file.seekToEnd()
    try file.seek(toOffset: 64)
    var extent = ByteWriter()
    extent.integer(size + 1)
    try file.write(contentsOf: Data(extent.bytes))
    try file.seekToEnd()
    try file.write(contentsOf: Data([1]))
    try file.close()
    try expectKilled(world.worker("set", "killAt=\(step.rawValue)"), at: step)
    let expected: DefaultsValue = step == .replaced ? "new" : "old"
    #expect(try world.open().value(forKey: "key") == expected)
    try world.open().set("next", forKey: "key")
    #expect(try world.open().value(forKey: "twin") == expected)
  }

  /// A busy disk takes seconds to sync a new file: others change the suite meanwhile, and the new
  /// file, which lacks that change, does not replace theirs.
  @Test func othersChangeASuiteWhoseNewFileIsBeingSynced() throws {
    let world = try DefaultsWorld()
    let defaults = try world.open()
    let writer = try world.worker(
      "set", "bytes=100000", "stopAt=\(DefaultsStep.prepared.rawValue)")
    try writer.waitForOutput("stopped at prepared")
    try defaults.set("mine", forKey: "key")
    #expect(defaults.value(forKey: "twin") == "new")
    try writer.end(with: SIGKILL)
  }

  /// The new file lacks such a change, so it does not replace theirs: another attempt follows, or,
  /// if that fails too, one after a later change.
  @Test(arguments: [1, 2])
  func newFileNeverReplacesAChangeThatItLacks(changes: Int) throws {
    let world = try DefaultsWorld()
    let count = Mutex(0)
    let defaults = try SharedDefaults(
      suiteName: DefaultsWorld.suiteName, in: world.group, recheckInterval: .seconds(1)
    ) { step in
      guard step == .prepared else { return }
      let number = count.withLock { count in
        count += 1
        return count
      }
      if number > changes { return }
      // It is killed before it replaces the file itself.
      let kill = "killAt=\(DefaultsStep.prepared.rawValue)"
      _ = try? world.worker("set", "value=\(number)", kill).finish()
    }
    func inode() throws -> Int? {
      try FileManager.default.attributesOfItem(atPath: world.path)[.systemFileNumber] as? Int
    }
    try defaults.set("old", forKey: "key")
    let before = try inode()
    let filler = String(repeating: ".", count: 100_000)
    try defaults.set(filler, forKey: "filler")
    for reader in [defaults, try world.open()] {
      #expect(reader.string(forKey: "key") == "\(changes)")
      #expect(reader.string(forKey: "filler") == filler)
    }
    #expect(try (inode() == before) == (changes == 2))
    try defaults.set(filler + ".", forKey: "filler")
    #expect(try inode() != before)
    #expect(try world.entries() == ["suite.suite"])
    #expect(try world.open().string(forKey: "key") == "\(changes)")
  }

  /// The same at each system call that replaces a file or creates the first one.
  @Test(arguments: ["openat", "write", "fchmod", "fsync", "renameat2", "unlinkat", "pwrite64"])
  func writerKilledAtEachCallOf(_ call: String) throws {
    for number in 1...60 {
      let world = try DefaultsWorld()
      let early = try world.open()
      for round in 1...2 {
        // First without a file, then with a journal that is about to become a snapshot.
        let size = round == 1 ? "bytes=0" : "bytes=100000"
        let before = early.value(forKey: "key")
        let program = try pathOfProgram("DefaultsWorker")
        let result = try run(
          "strace",
          ["-f", "-qq", "-o", "/dev/null", "-e", "trace=\(call)"]
            + ["-e", "inject=\(call):signal=KILL:when=\(number)", program, "set"]
            + [world.root.path, DefaultsWorld.groupName, "value=v\(round)", size])
        let now = try world.open().value(forKey: "key")
        #expect(now == before || now == .string("v\(round)"), "\(call) \(number)")
        #expect(early.value(forKey: "key") == now)
        #expect(try world.open().value(forKey: "twin") == now)
        if result.status.isSuccess, round == 2 { return }
        try early.set(.string("mended"), forKey: "key")
        try early.set(.string("mended"), forKey: "twin")
      }
    }
  }

  @Test func nextSnapshotRemovesLeftoversOfEachKill() throws {
    let world = try DefaultsWorld()
    try world.open().set("old", forKey: "key")
    try output(of: "touch", ["\(world.group.containerPath)/defaults/.new-suite.suite-1abc"])
    try output(of: "touch", ["\(world.group.containerPath)/defaults/.new-suite.suite-b.suite-1"])
    try world.worker("set", "bytes=100000").finish()
    #expect(try world.entries() == [".new-suite.suite-b.suite-1", "suite.suite"])
  }

  @Test func stoppedLockHolderIsNamedInTheErrorsOfOthers() throws {
    let world = try DefaultsWorld()
    let defaults = try world.open()
    try defaults.set("old", forKey: "key")
    let holder = try world.worker("set", "stopAt=\(DefaultsStep.locked.rawValue)")
    try holder.waitForOutput("stopped at locked")
    holder.process.send(signal: SIGSTOP)
    let error = try #require(throws: DefaultsError.self) {
      try defaults.update(within: .milliseconds(50)) { $0["key"] = "mine" }
    }
    #expect(error == .busy(path: world.path, holderPID: holder.processID))
    #expect(error.description.contains("process \(holder.processID) has held the lock"))
    // Readers are not blocked.
    #expect(defaults.value(forKey: "key") == "old")
    #expect(try world.open().value(forKey: "key") == "old")
    try holder.end(with: SIGKILL)
    try defaults.set("mine", forKey: "key")
  }

  @Test func changesOfFourWritersAreSerialized() throws {
    let world = try DefaultsWorld()
    let count = 10_000
    let writers = try (1...4).map { try world.worker("write", "id=\($0)", "count=\(count)") }
    for writer in writers {
      #expect(try writer.finish(within: .seconds(300)).output.hasSuffix("done\n"))
    }
    let defaults = try world.open()
    // Every change has its own sequence number.
    #expect(try defaults.refresh() == UInt64(4 * count))
    #expect(defaults.integer(forKey: "total") == 4 * count)
    for writer in 1...4 { #expect(defaults.integer(forKey: "own\(writer)") == count) }
    #expect((1...4).map { "\($0) \(count)" }.contains(defaults.string(forKey: "last")))
  }

  @Test func readerNeverSeesAPartialChange() throws {
    let world = try DefaultsWorld()
    let reader = try world.worker("readPairs")
    for _ in 1...8 {
      let writer = try world.worker("pair")
      try writer.waitForOutput("wrote")
      try writer.end(with: SIGKILL)
      #expect(try world.open().storedValues()["left"] == world.open().storedValues()["right"])
    }
    let last = try world.open().integer(forKey: "left")
    try reader.waitForOutput("looked up to \(last)\n")
    let said = try reader.end(with: SIGKILL).output
    #expect(!said.contains("half") && !said.contains("back"), "\(said.suffix(500))")
  }
}
