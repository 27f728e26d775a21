import CLogLayout
import Foundation
import Platform
import SharedLog
import TestSupport
import Testing

/// Whatever a log's directories and lines contain, reading ends with lines that were written.
@Suite struct LogHostileTests {
  private let world: LogWorld

  init() throws { world = try LogWorld() }

  @Test func lineContentIsReadUnchanged() throws {
    let log = try world.log()
    let messages = [
      "two\nlines", "\u{1b}[2J\u{7}", "a\0b", "", "\u{202e}right to left", "🎥 é ﬀ",
      String(repeating: "é", count: 1000),
    ]
    for message in messages { log.append(.info, message, label: message) }
    #expect(try world.messages() == messages)
    #expect(try world.read().lines.map(\.label.utf8.count).max() == 254)
    try log.close()
    #expect(try world.messages() == messages)
  }

  @Test func tooLongLineIsTruncatedAndMarked() throws {
    let log = try world.log()
    let message = String(repeating: "é", count: 500_000)
    log.append(.info, message, metadata: [LogField("k", "v")])
    log.append(
      .info, "short", metadata: (0..<1000).map { LogField("k\($0)", message) })
    log.append(.info, "next")
    let lines = try world.read().lines
    try #require(lines.count == 3)
    #expect(lines[0].isCut && lines[1].isCut && !lines[2].isCut)
    #expect(lines[0].message.utf8.count > 60_000)
    #expect(message.hasPrefix(lines[0].message))
    #expect(lines[0].metadata == [LogField("k", "v")])
    #expect(lines[1].message == "short")
    #expect(lines[1].metadata.first?.value.isEmpty == false)
    #expect(lines[2].message == "next")
  }

  @Test func recordInAMessageIsNotParsedAsRecord() throws {
    let log = try world.log()
    log.append(.info, "true")
    try log.flush()
    let path = world.group.logsPath + "/\(log.runName).000001.log"
    let record = try Data(contentsOf: URL(fileURLWithPath: path)).dropFirst(256)
    log.append(.info, String(decoding: record, as: UTF8.self))
    log.append(.info, "last")
    #expect(try world.messages().count == 3)
    try log.close()
    #expect(try world.messages().first == "true")
    #expect(try world.messages().count == 3)
  }

  @Test func damageLosesOnlyTheLinesItHits() throws {
    let log = try world.log()
    for number in 1...100 { log.append(.info, "line \(number)") }
    try log.close()
    let path = world.group.logsPath + "/\(log.runName).000001.log"
    let whole = try Data(contentsOf: URL(fileURLWithPath: path))
    let seed = TestSeed(for: "LogHostileTests")
    var random = seed.generator
    let expected = (1...100).map { "line \($0)" }
    for _ in 0..<100 {
      var damaged = whole
      let start = Int.random(in: 256..<whole.count, using: &random)
      let count = min(Int.random(in: 1...64, using: &random), whole.count - start)
      for index in start..<start + count {
        damaged[index] ^= UInt8.random(in: 1...255, using: &random)
      }
      try damaged.write(to: URL(fileURLWithPath: path))
      let (lines, missing) = try world.read()
      let messages = lines.map(\.message)
      #expect(messages.count >= 97, "\(seed.replay)")
      #expect(messages == expected.filter(Set(messages).contains), "\(seed.replay)")
      // Readers cannot detect lines missing at the end.
      let last = lines.last.map { Int($0.sequence) } ?? 0
      #expect(Int(missing) == last - messages.count, "\(seed.replay)")
    }
    for count in [0, 1, 255, 256, 257, 300, whole.count - 1] {
      try whole.prefix(count).write(to: URL(fileURLWithPath: path))
      let messages = try world.messages()
      #expect(messages == Array(expected.prefix(messages.count)))
    }
  }

  @Test func invalidHeaderMakesNoRun() throws {
    let log = try world.log()
    log.append(.info, "line")
    try log.close()
    let path = world.group.logsPath + "/\(log.runName).000001.log"
    let whole = try Data(contentsOf: URL(fileURLWithPath: path))
    for index in 0..<256 {
      var damaged = whole
      damaged[index] ^= 0xff
      try damaged.write(to: URL(fileURLWithPath: path))
      #expect(try world.messages() == [], "byte \(index)")
    }
  }

  @Test func nonFilesAreLeftOut() throws {
    let log = try world.log()
    log.append(.info, "line")
    let logs = world.group.logsPath
    let name = log.runName
    try FileManager.default.createSymbolicLink(
      atPath: "\(logs)/\(name)7.000001.log", withDestinationPath: "/dev/zero")
    try output(of: "mkfifo", ["\(logs)/\(name)8.000001.log"])
    try FileManager.default.createDirectory(
      atPath: "\(logs)/\(name)9.000001.log", withIntermediateDirectories: false)
    try output(of: "mkfifo", ["\(world.group.logSegmentsPath)/\(name)8.segment"])
    #expect(FileManager.default.createFile(atPath: "\(logs)/else", contents: Data("x".utf8)))
    #expect(try withWatchdog { try world.messages() } == ["line"])
  }

  @Test func truncatingALiveSegmentHarmsNoProcess() throws {
    let log = try world.log()
    log.append(.info, "before")
    try log.flush()
    let path = world.group.logSegmentsPath + "/\(log.runName).segment"
    try output(of: "truncate", ["--size=0", path])
    log.append(.info, "after")
    #expect(try world.messages().first == "before")
    try log.close()
    #expect(try world.messages() == ["before", "after"])
  }

  @Test func linesAfterUnsavedOnesThatWereTruncatedAwayAreSaved() throws {
    let log = try world.log()
    // Nothing can be saved while the directory is away.
    let logs = world.group.logsPath
    try FileManager.default.moveItem(atPath: logs, toPath: logs + ".away")
    log.append(.info, "lost")
    let path = world.group.logSegmentsPath + "/\(log.runName).segment"
    try output(of: "truncate", ["--size=0", path])
    log.append(.info, "after")
    try FileManager.default.moveItem(atPath: logs + ".away", toPath: logs)
    try log.flush()
    log.append(.info, "last")
    try log.close()
    #expect(try world.messages() == ["after", "last"])
  }

  @Test func invalidSegmentOfDeadRunHasNoLines() throws {
    let worker = try world.worker("write", "count=50", "hold=1")
    try worker.waitForOutput("done")
    try worker.end(with: SIGKILL)
    let name = try #require(try world.segments().first)
    let path = world.group.logSegmentsPath + "/" + name
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    for index in 0..<bytes.count where index % 97 != 0 { bytes[index] = UInt8(index & 0xff) }
    try bytes.write(to: URL(fileURLWithPath: path))
    let before = try world.read().lines.count
    let log = try world.log()
    #expect(try world.read().lines.count == before)
    log.append(.info, "well")
    #expect(try world.messages().last == "well")
  }

  @Test func holeLeftByAKilledWriterIsSkippedAndCounted() throws {
    let worker = try world.worker("write", "count=3", "hold=1")
    try worker.waitForOutput("done")
    // As if killed between reserving space and writing the mark.
    worker.process.send(signal: SIGSTOP)
    let name = try #require(try world.segments().first)
    let path = world.group.logSegmentsPath + "/" + name
    try worker.end(with: SIGKILL)
    for file in try world.files() {
      try FileManager.default.removeItem(atPath: world.group.logsPath + "/" + file)
    }
    let handle = try #require(FileHandle(forUpdatingAtPath: path))
    let head = try handle.read(upToCount: 4096 + 16) ?? Data()
    let byteCount = Int(UInt32(littleEndian: head[(4096 + 8)..<(4096 + 12)]))
    try handle.seek(toOffset: UInt64(4096 + (byteCount + 15) & ~15))
    try handle.write(contentsOf: Data(repeating: 0, count: 8))
    try handle.close()
    let (lines, missing) = try world.read()
    #expect(lines.map(\.message) == ["line 1 ", "line 3 "])
    #expect(missing == 1)
    let log = try world.log()
    #expect(try world.messages() == ["line 1 ", "line 3 "])
    try log.close()
  }
}
