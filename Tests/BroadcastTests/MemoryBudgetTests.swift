import AppGroup
import Broadcast
import Foundation
import Platform
import TestSupport
import Testing

/// An extension with a memory budget: samples are dropped when it is nearly used up, and an
/// extension that exceeds it is ended with an error that says so.
@Suite struct MemoryBudgetTests {
  private static let budgetMiB = 96

  private func scene(_ settings: [String]) throws -> BroadcastScene {
    try BroadcastScene(
      settings, source: "test:bars", size: (640, 360),
      manifest: "memory-limit-mb = \(Self.budgetMiB)")
  }

  @Test func slowDestinationDropsSamplesAndStaysWithinBudget() throws {
    try withWatchdog {
      // 30 samples per second arrive, 10 per second are sent, and each is copied.
      let scene = try scene(["sendEveryMs=100"])
      let session = try scene.start()
      var most: UInt64 = 0
      try waitUntil("memory is available again, for the second time") {
        if let pid = try scene.controller.status.pids[.extension] {
          most = max(most, privateMemoryBytes(of: pid) ?? 0)
        }
        return try scene.log().count { $0.message == "memory is available again" } >= 2
      }
      let drops = try scene.log().compactMap { record in
        record.metadata.first { $0.key == "dropped" }.flatMap { Int($0.value) }
      }
      #expect(drops.allSatisfy { $0 > 0 }, "\(drops)")
      #expect(try scene.controller.status.attempt == 1)
      #expect(try scene.finish(session) == .finished)
      #expect(scene.trace == ["started 1", "video", "finished"])
      #expect(most > 0 && most <= UInt64(Self.budgetMiB) << 20, "\(most) bytes")
    }
  }

  @Test func extensionOverBudgetIsEndedWithMemoryFailure() throws {
    try withWatchdog {
      let scene = try scene(["runaway=1"])
      var request = scene.request
      request.restarts = .never
      let session = try scene.controller.start(request).session
      let ending = try scene.controller.waitForEnding(of: session)
      guard case .failed(let failure)? = ending else {
        Issue.record("the ending is \(ending.map { "\($0)" } ?? "nil")")
        return
      }
      #expect(failure.domain == "framebus.memory")
      #expect(failure.reason.contains("budget of \(Self.budgetMiB) MiB"))
      #expect(failure.recovery.contains("memory-limit-mb"))
    }
  }

  @Test func extensionOverBudgetIsRestarted() throws {
    try withWatchdog {
      let scene = try scene(["runaway=1"])
      let session = try scene.start()
      try scene.waitForTrace(["started 1", "video", "started 2", "video"])
      #expect(scene.events.all.contains(.roleRestarted(.extension)))
      #expect(try scene.finish(session) == .finished)
    }
  }

  // MARK: Without control groups

  @Test(.enabled(if: TestUser.canBeCreated, "only root can hide a file system"))
  func callOrderHoldsWithoutControlGroups() throws {
    try withWatchdog {
      let scene = try scene([])
      let host = try RunningProgram(
        withoutControlGroups: "BroadcastWorker", scene.hostArguments)
      try scene.waitForTrace(["started 1", "video"])
      let status = try scene.controller.status
      #expect(status.confinement[.extension]?.hasPrefix("on, without children-memory") == true)
      try scene.kill(.capture)
      try scene.waitForTrace(["started 1", "video", "paused captureLost", "resumed", "video"])
      try scene.kill(.extension)
      try scene.waitForTrace([
        "started 1", "video", "paused captureLost", "resumed", "video", "started 2", "video",
      ])
      #expect(
        try scene.log().contains { $0.message.contains("children-memory off: no control group") })
      _ = try host.end(with: Signal.terminate)
      #expect(scene.trace.last == "finished")
      #expect(try scene.controller.status.ending == .finished)
    }
  }

  @Test(.enabled(if: TestUser.canBeCreated, "only root can hide a file system"))
  func extensionOverBudgetIsEndedWithoutControlGroups() throws {
    try withWatchdog {
      let scene = try scene(["runaway=1"])
      let host = try RunningProgram(
        withoutControlGroups: "BroadcastWorker", scene.hostArguments)
      try scene.waitForTrace(["started 1", "video", "started 2", "video"])
      #expect(try scene.log().contains { $0.message.contains("exceeded its memory budget") })
      _ = try host.end(with: Signal.terminate)
    }
  }
}
