import AppGroup
import Broadcast
import Platform
import TestSupport
import Testing

/// The order of calls that an extension receives, and of events that its host receives.
@Suite struct LifecycleTests {
  @Test func callsAreStartedThenSamplesThenFinished() throws {
    try withWatchdog {
      let scene = try BroadcastScene()
      let session = try scene.start()
      try scene.waitForTrace(["started 1", "video"])
      #expect(try scene.controller.isBroadcasting)
      // A slow host reads only the newest record.
      try scene.events.wait(for: .live)
      #expect(try scene.finish(session) == .finished)
      #expect(scene.trace == ["started 1", "video", "finished"])
      // Not every machine has every measure of the sandbox.
      let events = scene.events.all.filter {
        if case .confinedInPart = $0 { false } else { true }
      }
      #expect(events == [.started(session, isAdopted: false), .live, .finished(.finished)])
      let status = try scene.controller.status
      #expect(status.pids == [:])
      #expect(status.ending == .finished)
    }
  }

  @Test func failureAtStartReachesHostUnchanged() throws {
    try withWatchdog {
      let scene = try BroadcastScene(["fail=signIn"])
      let session = try scene.start()
      let ending = try scene.controller.waitForEnding(of: session)
      #expect(
        ending
          == .failed(
            BroadcastFailure(
              domain: "WHIP", code: 401, reason: "Not Logged In", recovery: "Go to Application")))
      #expect(scene.trace == ["started 1"])
      #expect(scene.events.all.last == ending.map { .finished($0) })
    }
  }

  @Test func cancelledPickStartsNothing() throws {
    try withWatchdog {
      let scene = try BroadcastScene()
      try scene.controller.cancelPick()
      #expect(scene.trace == [])
      #expect(scene.events.all == [.finished(.cancelled)])
      let status = try scene.controller.status
      #expect(status.phase == .finished)
      #expect(status.ending == .cancelled)
    }
  }

  @Test func noSampleArrivesBetweenPausedAndResumed() throws {
    try withWatchdog {
      let scene = try BroadcastScene()
      let session = try scene.start()
      try scene.waitForTrace(["started 1", "video"])
      try scene.controller.pause()
      try scene.events.wait(for: .paused([.requested]))
      #expect(try scene.controller.isPaused)
      try scene.controller.annotate(applicationID: "org.example.editor")
      try scene.waitForTrace([
        "started 1", "video", "paused requested", "annotated org.example.editor",
      ])
      try scene.controller.resume()
      try scene.waitForTrace([
        "started 1", "video", "paused requested", "annotated org.example.editor", "resumed",
        "video",
      ])
      #expect(try scene.finish(session) == .finished)
      #expect(scene.trace.last == "finished")
      #expect(scene.events.all.contains(.resumed))
    }
  }

  @Test func failureDuringBroadcastReachesHostUnchanged() throws {
    try withWatchdog {
      let scene = try BroadcastScene(["failAfter=3"])
      let session = try scene.start()
      let ending = try scene.controller.waitForEnding(of: session)
      #expect(
        ending
          == .failed(BroadcastFailure(domain: "test", code: 7, reason: "enough \"of\" it\n")))
      #expect(scene.trace == ["started 1", "video"])
    }
  }

  @Test func killedCapturePausesBroadcastUntilRestart() throws {
    try withWatchdog {
      let scene = try BroadcastScene()
      let session = try scene.start()
      try scene.waitForTrace(["started 1", "video"])
      try scene.kill(.capture)
      try scene.waitForTrace(["started 1", "video", "paused captureLost", "resumed", "video"])
      #expect(try scene.finish(session) == .finished)
      #expect(scene.events.all.contains(.roleRestarted(.capture)))
      #expect(scene.trace.last == "finished")
    }
  }

  @Test func killedExtensionRestarts() throws {
    try withWatchdog {
      let scene = try BroadcastScene()
      let session = try scene.start()
      try scene.waitForTrace(["started 1", "video"])
      try scene.kill(.extension)
      try scene.waitForTrace(["started 1", "video", "started 2", "video"])
      #expect(try scene.finish(session) == .finished)
      #expect(scene.events.all.contains(.roleRestarted(.extension)))
    }
  }

  @Test func deathWithoutRestartEndsBroadcastWithSignal() throws {
    try withWatchdog {
      let scene = try BroadcastScene()
      var request = scene.request
      request.restarts = .never
      let session = try scene.controller.start(request).session
      try scene.waitForTrace(["started 1", "video"])
      try scene.kill(.extension)
      #expect(try scene.controller.waitForEnding(of: session) == .died(signal: 9))
      #expect(try scene.controller.status.pids == [:])
    }
  }

  @Test func nextHostAdoptsSessionOfKilledHost() throws {
    try withWatchdog {
      let scene = try BroadcastScene()
      let host = try scene.hostProcess()
      try waitUntil("it is live") { try scene.controller.status.phase == .live }
      let before = try scene.controller.status
      _ = try host.end(with: Signal.kill)
      let after = try scene.controller.status
      #expect(after.phase == .live)
      #expect(after.pids[.host] == nil)
      let started = try scene.controller.start(scene.request)
      #expect(started == .adopted(try #require(before.session)))
      let adopted = try scene.controller.status
      #expect(adopted.pids[.capture] == before.pids[.capture])
      #expect(adopted.pids[.extension] == before.pids[.extension])
      // The new host restarts roles as the old one did.
      try scene.kill(.extension)
      try scene.waitForTrace(["started 1", "video", "started 2", "video"])
      #expect(try scene.finish(started.session) == .finished)
      #expect(scene.trace.last == "finished")
      try waitUntil("the capture has ended") { try scene.controller.status.pids == [:] }
    }
  }

  @Test func anotherHostCanEndSession() throws {
    try withWatchdog {
      let scene = try BroadcastScene()
      let host = try scene.hostProcess()
      try scene.waitForTrace(["started 1", "video"])
      _ = try host.end(with: Signal.kill)
      try scene.controller.finish()
      #expect(scene.trace == ["started 1", "video", "finished"])
      #expect(try scene.controller.status.ending == .finished)
      #expect(try scene.controller.status.pids == [:])
    }
  }

  @Test func startAfterAllRolesDiedCreatesNewSession() throws {
    try withWatchdog {
      let scene = try BroadcastScene()
      let host = try scene.hostProcess()
      try scene.waitForTrace(["started 1", "video"])
      let dead = try #require(try scene.controller.status.session)
      // The host first, so that it restarts none of the others.
      _ = try host.end(with: Signal.kill)
      try scene.kill(.extension)
      try scene.kill(.capture)
      let status = try scene.controller.status
      #expect(status.phase == .finished)
      #expect(status.ending == .died(signal: nil))
      #expect(try scene.controller.waitForEnding(of: dead) == .died(signal: nil))
      let started = try scene.controller.start(scene.request)
      #expect(started == .began(started.session))
      #expect(started.session != dead)
      try scene.waitForTrace(["started 1", "video", "started 1", "video"])
      #expect(try scene.finish(started.session) == .finished)
    }
  }

  @Test func terminatedHostStopsAllRoles() throws {
    try withWatchdog {
      let scene = try BroadcastScene()
      let host = try scene.hostProcess()
      try scene.waitForTrace(["started 1", "video"])
      let result = try host.end(with: Signal.terminate)
      #expect(result.status == .exited(0))
      #expect(result.output.contains("ending finished"))
      #expect(scene.trace == ["started 1", "video", "finished"])
      #expect(try scene.controller.status.pids == [:])
    }
  }
}
