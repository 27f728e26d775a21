import AppGroup
import Broadcast
import Foundation
import Platform
import TestSupport
import Testing

/// A random role dies again and again, the host among them, and the broadcast goes on: no picture
/// is torn, nothing piles up, and the log tells of each death.
@Suite struct SoakTests {
  /// `FRAMEBUS_BROADCAST_SOAK=120`: for so many seconds, at 720p30.
  private static let asked =
    ProcessInfo.processInfo.environment["FRAMEBUS_BROADCAST_SOAK"].flatMap(Int.init)
  private static let size = asked == nil ? (width: 320, height: 180) : (width: 1280, height: 720)
  private static let killInterval = Duration.seconds(asked == nil ? 1 : 5)

  @Test func aBroadcastOutlivesItsRolesOneAfterTheOther() throws {
    let seed = TestSeed(for: "SoakTests")
    var random = seed.generator
    let seconds = Self.asked ?? 10
    try withWatchdog(after: .seconds(seconds * 2 + 600)) {
      let sharedMemory = try sharedMemoryEntries()
      // With a budget, which nothing here comes near, there is a control group that has to go.
      let scene = try BroadcastScene(
        ["check=pictures"], source: "test:bars", size: Self.size,
        manifest: "memory-limit-mb = 1024")
      var host = try scene.hostProcess("restarts=always")
      var hosts: Set = [host.processID]
      try waitUntilWhole(scene)
      let session = try #require(try scene.controller.status.session)
      let filesBefore = try fileCount(scene)
      var census = Census()
      let end = Deadline.after(.seconds(seconds))
      var kills: [Role: Int] = [.host: 0, .capture: 0, .extension: 0]
      repeat {
        let next = Deadline.after(Self.killInterval)
        try census.take(of: scene.controller.status.pids, "\(seed)")
        let role = Role.publishing.randomElement(using: &random) ?? .host
        try scene.kill(role)
        kills[role, default: 0] += 1
        if role == .host {
          _ = try host.finish()
          host = try scene.hostProcess("restarts=always")
          hosts.insert(host.processID)
          try host.waitForOutput("adopted")
        }
        try waitUntilWhole(scene)
        #expect(try scene.controller.status.session == session, "\(seed)")
        // One role dies every so often, not as fast as it can.
        sleep(until: next)
      } while !end.isPast
      try waitUntilWhole(scene)
      try census.take(of: scene.controller.status.pids, "\(seed)")
      let filesAfter = try fileCount(scene)
      #expect(filesAfter <= filesBefore + 8, "\(filesBefore) files, then \(filesAfter), \(seed)")
      _ = try host.end(with: Signal.terminate)
      #expect(try scene.controller.status.ending == .finished, "\(seed)")
      #expect(try scene.controller.status.pids == [:], "\(seed)")
      try expectNothingIsLeft(of: session, scene, hosts, "\(seed)")
      try waitUntilNothingIsLeft(since: sharedMemory)
      #expect(isGoldenOrder(scene.trace), "\(seed): \(scene.trace)")
      try expectStory(of: kills, in: scene, "\(seed)")
    }
  }

  /// No process that has to do with it, and no control group that one of its hosts made.
  private func expectNothingIsLeft(
    of session: SessionID, _ scene: BroadcastScene, _ hosts: Set<Int32>, _ seed: String
  ) throws {
    let left = try ProcessFacts.all.filter(\.isRunning).map { $0.shown("cmdline") }
      .filter { $0.contains("--session=\(session)") || $0.contains(scene.root.path) }
    #expect(left == [], "\(seed)")
    // What is going while it looks makes it fail, and is none of ours.
    let groups = try run("find", ["/sys/fs/cgroup", "-type", "d", "-name", "framebus-*-*"])
      .output.split(separator: "\n")
      .filter { path in
        hosts.contains { path.split(separator: "/").last?.hasPrefix("framebus-\($0)-") == true }
      }
    #expect(groups == [], "\(seed)")
  }

  /// Waits until every role is there and samples flow.
  private func waitUntilWhole(_ scene: BroadcastScene) throws {
    try waitUntil("every role is there and live, after \(scene.trace)") {
      let status = try scene.controller.status
      return status.phase == .live && status.pids.count == 3
    }
  }

  /// What lies in the group's directories, but for logs, of which each run leaves one.
  private func fileCount(_ scene: BroadcastScene) throws -> Int {
    let paths = try FileManager.default.subpathsOfDirectory(atPath: scene.root.path)
    return paths.count { !$0.contains("/logs/") && !$0.contains("/log/") }
  }

  /// Each life of an extension is started, then samples and pauses in turn; the last one finishes.
  /// A line about a picture is one too many.
  private func isGoldenOrder(_ trace: [String]) -> Bool {
    var isPaused = false
    for (index, line) in trace.enumerated() {
      switch line.split(separator: " ").first {
      case "started": isPaused = false
      case "video": if isPaused { return false }
      case "paused":
        if isPaused { return false }
        isPaused = true
      case "resumed":
        if !isPaused { return false }
        isPaused = false
      case "finished": if index != trace.count - 1 { return false }
      default: return false
      }
    }
    return trace.first == "started 1" && trace.last == "finished"
  }

  /// Each death is in the merged log, and one session.
  private func expectStory(
    of kills: [Role: Int], in scene: BroadcastScene, _ seed: String
  ) throws {
    let log = try scene.log()
    for role in [Role.capture, .extension] {
      let deaths = log.count { record in
        record.run.role == .host && record.message.hasPrefix("the \(role) ")
          && record.metadata.contains { $0.key == "restartsIn" }
      }
      #expect(deaths == kills[role], "deaths of the \(role), \(seed)")
    }
    let takenOver = log.count { $0.message == "a new host takes the session over" }
    #expect(takenOver == kills[.host], "\(seed)")
    #expect(log.count { $0.message == "the session begins" } == 1, "\(seed)")
    #expect(log.last?.message == "every role has ended", "\(seed)")
  }
}

/// What each process has, from its second look on, since at its first it may still be opening what
/// it needs: others die beside it, and nothing of them stays.
private struct Census {
  private struct Has {
    var descriptors: Int
    var memoryBytes: UInt64
    var looks: Int
  }
  private var known: [Int32: Has] = [:]

  private static let descriptorSlack = 12
  private static let memorySlack: UInt64 = 48 << 20

  mutating func take(of pids: [Role: Int32], _ seed: String) {
    for (role, pid) in pids {
      guard let descriptors = try? ProcessFacts(pid).descriptorCount,
        let memoryBytes = privateMemoryBytes(of: pid)
      else { continue }
      let looks = (known[pid]?.looks ?? 0) + 1
      let now = Has(descriptors: descriptors, memoryBytes: memoryBytes, looks: looks)
      guard let before = known[pid], before.looks == 2 else {
        known[pid] = now
        continue
      }
      #expect(
        now.descriptors <= before.descriptors + Self.descriptorSlack,
        "the \(role) had \(before.descriptors) descriptors, and has \(now.descriptors), \(seed)")
      #expect(
        now.memoryBytes <= before.memoryBytes + Self.memorySlack,
        "the \(role) had \(before.memoryBytes) bytes, and has \(now.memoryBytes), \(seed)")
    }
  }
}
