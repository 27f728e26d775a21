import Foundation
import Platform
import TestSupport
import Testing

@testable import Broadcast

/// Broadcasts with dead or stopped processes: they end on request, and the reported ending is
/// correct.
@Suite struct EndingTests {
  @Test func deadSessionCannotBePausedResumedOrFinishedTwice() throws {
    try withWatchdog {
      let scene = try BroadcastScene()
      let host = try scene.hostProcess()
      try scene.waitForTrace(["started 1", "video"])
      let session = try #require(try scene.controller.status.session)
      _ = try host.end(with: Signal.kill)
      try scene.kill(.extension)
      try scene.kill(.capture)
      #expect(throws: BroadcastError.noBroadcast) { try scene.controller.pause() }
      #expect(throws: BroadcastError.noBroadcast) { try scene.controller.resume() }
      #expect(try scene.finish(session) == .died(signal: nil))
      #expect(try scene.controller.status.ending == .died(signal: nil))
      #expect(throws: BroadcastError.noBroadcast) { try scene.controller.finish() }
    }
  }

  @Test func finishEndsLastCaptureOfDeadSession() throws {
    try withWatchdog {
      let scene = try BroadcastScene()
      let host = try scene.hostProcess()
      try scene.waitForTrace(["started 1", "video"])
      let session = try #require(try scene.controller.status.session)
      _ = try host.end(with: Signal.kill)
      try scene.kill(.extension)
      #expect(try scene.finish(session) == .died(signal: nil))
      #expect(try scene.controller.status.ending == .died(signal: nil))
      #expect(try scene.controller.status.pids == [:])
    }
  }

  @Test func finishWhileExtensionIsDeadReturnsItsDeath() throws {
    try withWatchdog {
      let scene = try BroadcastScene()
      var request = scene.request
      request.restarts.firstDelay = .seconds(3600)
      request.restarts.longestDelay = .seconds(3600)
      let session = try scene.controller.start(request).session
      try scene.waitForTrace(["started 1", "video"])
      try scene.kill(.extension)
      try waitUntil("its death is reported, not \(scene.events.all)") {
        scene.events.all.contains {
          if case .roleLost(.extension, _, _) = $0 { true } else { false }
        }
      }
      #expect(try scene.finish(session) == .died(signal: 9))
      #expect(scene.trace == ["started 1", "video"])
    }
  }

  @Test func unresponsiveHostStillCountsAsRunning() throws {
    try withWatchdog {
      let scene = try BroadcastScene()
      let host = try scene.hostProcess()
      try scene.waitForTrace(["started 1", "video"])
      host.process.send(signal: Signal.stop)
      try scene.kill(.extension)
      try scene.kill(.capture)
      // Each query takes an entry in its queue, until the queue is full.
      try waitUntil("the host accepts no connection") {
        try scene.controller.status.pids[.host] == nil
      }
      #expect(try scene.controller.isBroadcasting)
      _ = try host.end(with: Signal.kill)
      #expect(try scene.controller.status.ending == .died(signal: nil))
    }
  }
}
