import Foundation
import Platform
import SharedLog
import TestSupport
import Testing

/// A process that is killed at a random moment loses no line that it had finished.
@Suite struct LogKillTests {
  private let world: LogWorld

  init() throws { world = try LogWorld() }

  /// So often; `FRAMEBUS_LOG_KILLS` asks for more (scripts/soak).
  private static var kills: Int {
    ProcessInfo.processInfo.environment["FRAMEBUS_LOG_KILLS"].flatMap { Int($0) } ?? 50
  }

  @Test func theLastAcknowledgedLineOutlivesAKillAtARandomMoment() throws {
    let seed = TestSeed(for: "LogKillTests")
    var random = seed.generator
    for _ in 0..<Self.kills {
      let worker = try world.worker(
        "write", "count=1000000", "sayEvery=1", "rotateBytes=131072", "wait=1")
      let target = Int.random(in: 1...3000, using: &random)
      try worker.waitForOutput("wrote \(target)\n")
      let result = try worker.end(with: SIGKILL)
      let said = result.output.split(separator: "\n").last { $0.hasPrefix("wrote ") }
      // The last one may be cut short by the kill: it is written in one piece, or not at all.
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

  private func removeAll() throws {
    for folder in [world.group.logsPath, world.group.logSegmentsPath] {
      for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
        try FileManager.default.removeItem(atPath: folder + "/" + name)
      }
    }
  }
}
