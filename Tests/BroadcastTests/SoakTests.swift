import AppGroup
import Broadcast
import Foundation
import Platform
import TestSupport
import Testing

/// A random role dies again and again, the host among them, and the broadcast goes on.
@Suite struct SoakTests {
  /// `FRAMEBUS_BROADCAST_SOAK=120`: for so many seconds.
  private let seconds =
    ProcessInfo.processInfo.environment["FRAMEBUS_BROADCAST_SOAK"].flatMap(Int.init) ?? 10

  @Test func aBroadcastOutlivesItsRolesOneAfterTheOther() throws {
    let seed = TestSeed(for: "SoakTests")
    var random = seed.generator
    try withWatchdog(after: .seconds(seconds + 600)) {
      let scene = try BroadcastScene()
      var host = try scene.hostProcess()
      try waitUntilWhole(scene)
      let session = try #require(try scene.controller.status.session)
      let end = Deadline.after(.seconds(seconds))
      var kills: [Role: Int] = [:]
      repeat {
        let role = Role.publishing.randomElement(using: &random) ?? .host
        try scene.kill(role)
        kills[role, default: 0] += 1
        if role == .host {
          _ = try host.finish()
          host = try scene.hostProcess()
          try host.waitForOutput("adopted")
        }
        try waitUntilWhole(scene)
        #expect(try scene.controller.status.session == session, "\(seed)")
      } while !end.isPast
      let descriptors = try scene.controller.status.pids.mapValues(openDescriptors)
      _ = try host.end(with: Signal.terminate)
      #expect(try scene.controller.status.ending == .finished, "\(seed)")
      #expect(try scene.controller.status.pids == [:], "\(seed)")
      #expect(isGoldenOrder(scene.trace), "\(seed): \(scene.trace)")
      // A process that leaks one for each death of another would have more.
      for (role, count) in descriptors { #expect(count < 64, "\(role) has \(count), \(seed)") }
      #expect(kills.values.reduce(0, +) > 0)
    }
  }

  /// Waits until every role is there and samples flow.
  private func waitUntilWhole(_ scene: BroadcastScene) throws {
    try waitUntil("every role is there and live, after \(scene.trace)") {
      let status = try scene.controller.status
      return status.phase == .live && status.pids.count == 3
    }
  }

  private func openDescriptors(_ pid: Int32) -> Int {
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count) ?? 0
  }

  /// Each life of an extension is started, then samples and pauses in turn; the last one finishes.
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
}
