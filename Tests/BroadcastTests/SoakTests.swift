import AppGroup
import Broadcast
import Foundation
import Platform
import TestSupport
import Testing

/// Random roles die repeatedly, including the host, and the broadcast continues: no picture is
/// torn, no resource leaks, and the log has each death.
@Suite struct SoakTests {
  /// `FRAMEBUS_BROADCAST_SOAK=60` runs it for 60 seconds, at 720p30.
  private static let asked =
    ProcessInfo.processInfo.environment["FRAMEBUS_BROADCAST_SOAK"].flatMap(Int.init)
  private static let size = asked == nil ? (width: 320, height: 180) : (width: 1280, height: 720)
  private static let killInterval = Duration.milliseconds(asked == nil ? 1000 : 2500)

  @Test func broadcastSurvivesRepeatedDeathsOfRoles() throws {
    let seed = TestSeed(for: "SoakTests")
    var random = seed.generator
    let seconds = Self.asked ?? 10
    try withWatchdog(after: .seconds(seconds * 2 + 600)) {
      let sharedMemory = try OwnSharedMemory()
      // The budget, which nothing here approaches, adds a control group that must be removed.
      let scene = try BroadcastScene(
        ["check=pictures"], source: "test:bars", size: Self.size,
        manifest: "memory-limit-mb = 1024")
      var host = try scene.hostProcess("restarts=always", seeing: sharedMemory)
      var hosts: Set = [host.processID]
      try waitUntilAllRolesRun(scene)
      let session = try #require(try scene.controller.status.session)
      let filesBefore = try fileCount(scene)
      var census = ResourceCensus()
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
          host = try scene.hostProcess("restarts=always", seeing: sharedMemory)
          hosts.insert(host.processID)
          try host.waitForOutput("adopted")
        }
        try waitUntilAllRolesRun(scene)
        #expect(try scene.controller.status.session == session, "\(seed)")
        // Kill one role per interval, not as fast as roles restart.
        sleep(until: next)
      } while !end.isPast
      try waitUntilAllRolesRun(scene)
      try census.take(of: scene.controller.status.pids, "\(seed)")
      let filesAfter = try fileCount(scene)
      #expect(filesAfter <= filesBefore + 8, "\(filesBefore) files, then \(filesAfter), \(seed)")
      _ = try host.end(with: Signal.terminate)
      #expect(try scene.controller.status.ending == .finished, "\(seed)")
      #expect(try scene.controller.status.pids == [:], "\(seed)")
      try expectNothingIsLeft(of: session, scene, hosts, "\(seed)")
      try sharedMemory.waitUntilEmpty()
      #expect(isValidOrder(scene.trace), "\(seed): \(scene.trace)")
      try expectDeathsLogged(of: kills, in: scene, "\(seed)")
    }
  }

  /// Expects no process of the session and no control group of its hosts.
  private func expectNothingIsLeft(
    of session: SessionID, _ scene: BroadcastScene, _ hosts: Set<Int32>, _ seed: String
  ) throws {
    let left = try ProcessFacts.all.filter(\.isRunning).map { $0.shown("cmdline") }
      .filter { $0.contains("--session=\(session)") || $0.contains(scene.root.path) }
    #expect(left == [], "\(seed)")
    // `find` fails if a control group disappears meanwhile, which is not an error here.
    let groups = try run("find", ["/sys/fs/cgroup", "-type", "d", "-name", "framebus-*-*"])
      .output.split(separator: "\n")
      .filter { path in
        hosts.contains { path.split(separator: "/").last?.hasPrefix("framebus-\($0)-") == true }
      }
    #expect(groups == [], "\(seed)")
  }

  /// Waits until every role runs and samples flow.
  private func waitUntilAllRolesRun(_ scene: BroadcastScene) throws {
    try waitUntil("every role runs and the broadcast is live, after \(scene.trace)") {
      let status = try scene.controller.status
      return status.phase == .live && status.pids.count == 3
    }
  }

  /// The number of files in the group's directories, except logs, of which each run leaves one.
  private func fileCount(_ scene: BroadcastScene) throws -> Int {
    let paths = try FileManager.default.subpathsOfDirectory(atPath: scene.root.path)
    return paths.count { !$0.contains("/logs/") && !$0.contains("/log/") }
  }

  /// Whether each run of an extension starts, then has samples and pauses in turn, and the last one
  /// finishes. A line about a picture is an error.
  private func isValidOrder(_ trace: [String]) -> Bool {
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

  /// Expects each death in the merged log, in one session.
  private func expectDeathsLogged(
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
    let takenOver = log.count { $0.message == "a new host takes over the session" }
    #expect(takenOver == kills[.host], "\(seed)")
    #expect(log.count { $0.message == "the session starts" } == 1, "\(seed)")
    #expect(log.last?.message == "all roles have exited", "\(seed)")
  }
}

/// The resources of each process, compared with its second sample, because at the first it may
/// still be starting. Deaths of other processes must not leave anything behind in it.
private struct ResourceCensus {
  private struct Resources {
    var descriptors: Int
    var memoryBytes: UInt64
    var sampleCount: Int
  }
  private var known: [Int32: Resources] = [:]

  private static let descriptorSlack = 12
  private static let memorySlack: UInt64 = 48 << 20

  mutating func take(of pids: [Role: Int32], _ seed: String) {
    for (role, pid) in pids {
      guard let descriptors = try? ProcessFacts(pid).descriptorCount,
        let memoryBytes = privateMemoryBytes(of: pid)
      else { continue }
      let sampleCount = (known[pid]?.sampleCount ?? 0) + 1
      let now = Resources(
        descriptors: descriptors, memoryBytes: memoryBytes, sampleCount: sampleCount)
      guard let before = known[pid], before.sampleCount == 2 else {
        known[pid] = now
        continue
      }
      #expect(
        now.descriptors <= before.descriptors + Self.descriptorSlack,
        "descriptors of the \(role): \(before.descriptors), then \(now.descriptors), \(seed)")
      #expect(
        now.memoryBytes <= before.memoryBytes + Self.memorySlack,
        "memory of the \(role): \(before.memoryBytes) bytes, then \(now.memoryBytes), \(seed)")
    }
  }
}
