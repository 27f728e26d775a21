import Foundation
import Platform
import SharedLog
import TestSupport
import Testing

/// A process that is killed at a random moment loses no line whose call returned.
@Suite struct LogKillTests {
  private let world: LogWorld

  init() throws { world = try LogWorld() }

  /// Number of kills; `FRAMEBUS_LOG_KILLS` sets more (scripts/soak).
  private static var kills: Int {
    ProcessInfo.processInfo.environment["FRAMEBUS_LOG_KILLS"].flatMap { Int($0) } ?? 50
  }

  @Test func lastAppendedLineSurvivesAKillAtARandomMoment() throws {
    let seed = TestSeed(for: "LogKillTests")
    var random = seed.generator
    for _ in 0..<Self.kills {
      let worker = try world.worker(
        "write", "count=1000000", "sayEvery=1", "rotateBytes=131072", "wait=1")
      let target = Int.random(in: 1...3000, using: &random)
      try worker.waitForOutput("wrote \(target)\n")
      let result = try worker.end(with: SIGKILL)
      let said = result.output.split(separator: "\n").last { $0.hasPrefix("wrote ") }
      // The kill may have prevented the last report, which is written whole or not at all.
      let acknowledged = try #require(said.flatMap { UInt64($0.dropFirst(6)) })
      let (lines, missing) = try world.read()
      let own = lines.filter { $0.run.pid == UInt32(worker.processID) }
      let last = try #require(own.last?.sequence, "\(seed.replay)")
      #expect(last >= acknowledged && last <= acknowledged + 1, "\(seed.replay)")
      #expect(own.map(\.sequence) == Array(1...last), "\(seed.replay)")
      #expect(missing == 0, "\(seed.replay)")
      try removeAll()
    }
  }

  /// The segment has wrapped around several times by then, so that its oldest line is far from the
  /// run's first.
  @Test func deadRunsSegmentIsReadAndSavedAfterItsFilesWereRemoved() throws {
    let worker = try world.worker(
      "write", "count=9000", "pad=100", "segmentBytes=262144", "wait=1", "hold=1")
    try worker.waitForOutput("done\n")
    try worker.end(with: SIGKILL)
    try remove(in: world.group.logsPath)
    let (lines, missing) = try world.read()
    let first = try #require(lines.first?.sequence)
    #expect(first > 1 && missing == 0)
    #expect(lines.map(\.sequence) == Array(first...9000))
    // The next run of this user saves them.
    let next = try world.log { $0.session = "next" }
    #expect(try world.segments().count == 1)
    let saved = try world.read()
    #expect(saved.lines.filter { $0.run.session != "next" } == lines && saved.missing == missing)
    try next.close()
  }

  @Test func linesAfterALostFileOfADeadRunAreReadAndSaved() throws {
    let worker = try world.worker(
      "write", "count=9000", "pad=100", "segmentBytes=262144", "rotateBytes=1048576", "wait=1",
      "hold=1")
    try worker.waitForOutput("done\n")
    try worker.end(with: SIGKILL)
    let files = try world.files()
    #expect(files.count > 1)
    for name in files.dropFirst() {
      try FileManager.default.removeItem(atPath: world.group.logsPath + "/" + name)
    }
    let (lines, missing) = try world.read()
    #expect(lines.first?.sequence == 1 && lines.last?.sequence == 9000)
    #expect(UInt64(lines.count) + missing == 9000 && missing > 0)
    let next = try world.log { $0.session = "next" }
    let saved = try world.read()
    #expect(saved.lines.filter { $0.run.session != "next" } == lines && saved.missing == missing)
    try next.close()
  }

  private func removeAll() throws {
    try remove(in: world.group.logsPath)
    try remove(in: world.group.logSegmentsPath)
  }

  private func remove(in folder: String) throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
      try FileManager.default.removeItem(atPath: folder + "/" + name)
    }
  }
}
