import Foundation
import Platform
import SharedLog
import TestSupport
import Testing

/// Appended lines are read, whichever process appended them and however it ended.
@Suite struct WritingTests {
  private let world: LogWorld

  init() throws { world = try LogWorld() }

  @Test func lineIsReadWithAllItsParts() throws {
    let log = try world.log { $0.session = "evening" }
    let before = wallNowNs()
    let line = #line + 1
    log.append(
      .warning, "it is cold", label: "weather",
      metadata: [LogField("degrees", "-3"), LogField("where", "home", isPrivate: true)])
    let after = wallNowNs()
    // At once: the line is not saved yet, and the test has not waited.
    let record = try #require(try world.read().lines.first)
    #expect(record.message == "it is cold")
    #expect(record.level == .warning)
    #expect(record.label == "weather")
    #expect(record.metadata.map(\.key) == ["degrees", "where"])
    #expect(record.metadata.map(\.value) == ["-3", "home"])
    #expect(record.metadata.map(\.isPrivate) == [false, true])
    #expect(record.source == "SharedLogTests/WritingTests.swift:\(line)")
    #expect(record.sequence == 1)
    #expect(record.run.pid == UInt32(getpid()))
    #expect(record.run.uid == getuid())
    #expect(record.run.role == .host)
    #expect(record.run.isRoleHeld)
    #expect(record.run.session == "evening")
    #expect(!record.isCut)
    // Changes of the wall clock show within a millisecond.
    #expect(record.wallNs >= before - 2_000_000 && record.wallNs <= after + 2_000_000)
    try log.close()
    #expect(try world.read().lines == [record])
    #expect(try world.segments().isEmpty)
    #expect(try world.files() == ["\(log.runName).000001.log"])
  }

  @Test func linesBelowTheLevelAreNotFormatted() throws {
    let log = try world.log { $0.minimumLevel = .notice }
    func costly() -> String {
      Issue.record("made a message that nobody wants")
      return ""
    }
    log.append(.info, costly())
    log.append(.notice, "heard")
    #expect(try world.messages() == ["heard"])
  }

  @Test(arguments: ["kill", "abort", "trap"])
  func lastLineBeforeDeathIsReadable(_ by: String) throws {
    let result = try world.worker("die", "by=\(by)").finish()
    #expect(!result.status.isSuccess)
    #expect(try world.messages() == ["last words"])
    // The next run saves the line, and removes the segment.
    let log = try world.log()
    #expect(try world.messages() == ["last words"])
    try log.close()
    #expect(try world.segments().isEmpty)
    #expect(try world.messages() == ["last words"])
  }

  @Test func concurrentThreadsLoseAndMixNoLines() throws {
    // So small that it fills up, and some threads wait for space that others take.
    let worker = try world.worker(
      "threads", "threads=8", "count=5000", "wait=1", "segmentBytes=262144")
    try worker.finish().requireEnd()
    let (lines, missing) = try world.read()
    #expect(lines.count == 40_000)
    #expect(missing == 0)
    for thread in 0..<8 {
      let own = lines.filter { $0.message.hasPrefix("thread \(thread) ") }
      #expect(own.map(\.message) == (1...5000).map { "thread \(thread) line \($0)" })
    }
    #expect(lines.map(\.sequence) == Array(1...40_000))
  }

  @Test func linesWithoutRoomAreDroppedAndCountedInTheLog() throws {
    // Lines cannot be saved: a file replaces the directory.
    let saved = world.group.logsPath
    let log = try world.log { $0.segmentBytes = 1 << 18 }
    try FileManager.default.moveItem(atPath: saved, toPath: saved + ".away")
    #expect(FileManager.default.createFile(atPath: saved, contents: nil))
    for number in 1...5000 { log.append(.info, "line \(number) of many that do not all fit") }
    #expect(throws: LogError.self) { try log.flush(until: .after(.milliseconds(1))) }
    try FileManager.default.removeItem(atPath: saved)
    try FileManager.default.moveItem(atPath: saved + ".away", toPath: saved)
    try log.close()
    let (lines, missing) = try world.read()
    let notice = try #require(lines.last { $0.label == "framebus.log" })
    let dropped = try #require(UInt64(notice.message.split(separator: " ")[0]))
    #expect(dropped > 1000)
    #expect(missing == dropped)
    let own = lines.filter { $0.label != "framebus.log" }
    #expect(own.count + Int(dropped) == 5000)
    #expect(
      own.map(\.message)
        == (1...own.count).map {
          "line \($0) of many that do not all fit"
        })
  }

  @Test func waitingWriterLosesNothing() throws {
    let worker = try world.worker("write", "count=30000", "segmentBytes=262144", "wait=1")
    try worker.finish().requireEnd()
    let (lines, missing) = try world.read()
    #expect(missing == 0)
    #expect(lines.map(\.message) == (1...30_000).map { "line \($0) " })
  }

  @Test func filesAreRotatedBySizeAndStayWithinTheQuota() throws {
    let worker = try world.worker(
      "write", "count=20000", "rotateBytes=131072", "quotaBytes=524288", "wait=1")
    try worker.finish().requireEnd()
    let files = try world.files()
    let sizes = try files.map {
      try #require(
        FileManager.default.attributesOfItem(atPath: world.group.logsPath + "/" + $0)[.size]
          as? Int)
    }
    #expect(files.count > 1 && files.count <= 4)
    #expect(sizes.allSatisfy { $0 <= 131_072 })
    #expect(sizes.reduce(0, +) <= 524_288)
    let (lines, missing) = try world.read()
    #expect(missing == 0)
    #expect(lines.last?.message == "line 20000 ")
    #expect(lines.map(\.sequence) == Array(lines[0].sequence...20_000))
  }

  @Test func oldFileIsRotated() throws {
    // Every file is too old when the next lines arrive.
    let log = try world.log { $0.rotateAfter = .nanoseconds(1) }
    for number in 1...3 {
      log.append(.info, "line \(number)")
      try log.flush()
    }
    try log.close()
    #expect(try world.files() == (1...3).map { "\(log.runName).00000\($0).log" })
    #expect(try world.messages() == ["line 1", "line 2", "line 3"])
  }

  @Test(.enabled(if: MemoryGroup.canBeMade, "no memory cgroup can be made here"))
  func lastLineSurvivesTheOutOfMemoryKiller() throws {
    let limit = try MemoryGroup(limitBytes: 64 << 20)
    let worker = try RunningProgram(
      "sh",
      [
        "-c", "echo $$ > \"$0\"; exec \"$@\"", limit.processesPath, pathOfProgram("LogWorker"),
        "die", world.root.path, LogWorld.groupName, "by=memory",
      ])
    #expect(try worker.finish().status == .killed(signal: SIGKILL))
    #expect(try limit.killCount() > 0)
    #expect(try world.messages() == ["last words"])
  }

  @Test func flushWritesLinesToTheDiskDuringTheRun() throws {
    let log = try world.log()
    for number in 1...100 { log.append(.debug, "line \(number)") }
    try log.flush()
    let path = world.group.logsPath + "/\(log.runName).000001.log"
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    #expect(bytes.range(of: Data("line 100".utf8)) != nil)
  }

  @Test func removedFileIsReplacedDuringTheRun() throws {
    let log = try world.log()
    log.append(.info, "in the first")
    try log.flush()
    try FileManager.default.removeItem(
      atPath: world.group.logsPath + "/\(log.runName).000001.log")
    log.append(.info, "in the second")
    try log.close()
    #expect(try world.messages() == ["in the second"])
    #expect(try world.files() == ["\(log.runName).000002.log"])
  }

  @Test func invalidOptionsAreRefusedWithTheirRange() throws {
    for change: (inout LogOptions) -> Void in [
      { $0.segmentBytes = 300_000 }, { $0.segmentBytes = 1 << 17 }, { $0.rotateBytes = 1 },
      { $0.quotaBytes = 1 }, { $0.session = "" }, { $0.session = "a\nb" },
      { $0.session = String(repeating: "x", count: 49) },
    ] {
      #expect(throws: LogError.self) { try world.log(change) }
    }
  }
}

extension ProgramResult {
  /// A worker that finished its task.
  func requireEnd() throws {
    guard status.isSuccess, output.hasSuffix("closed\n") else {
      throw HarnessError("\(status)\n\(output)\n\(errors)")
    }
  }
}
