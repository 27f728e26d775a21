import Foundation
import TestSupport
import Testing

@testable import Platform
@testable import SharedDefaults

/// SIGKILL and SIGSTOP at every numbered step of a change (docs/design/defaults-journal.md). The
/// change is applied completely or not at all, all processes agree, and the next change succeeds.
@Suite(.serialized) struct DefaultsKillTests {
  private static let counting: Set<DefaultsStep> = [.extentMoved, .rung, .replaced]

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

  @Test(arguments: [DefaultsStep.retired, .replaced])
  func writerKilledWhileReplacingTheFile(at step: DefaultsStep) throws {
    let world = try DefaultsWorld()
    let early = try world.open()
    try early.set("old", forKey: "key")
    try early.set("old", forKey: "twin")
    try expectKilled(
      world.worker("set", "killAt=\(step.rawValue)", "bytes=100000"), at: step)
    try expectWhole(world, early, after: step)
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
