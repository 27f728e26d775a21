import AppGroup
import Foundation
import FrameBus
import Platform
import TestSupport
import Testing

@testable import Broadcast

/// Captures that a host finds: its own session's, one that a dead host left, and unrelated ones.
@Suite struct OrphanedCaptureTests {
  /// A capture that a user started in the scene's group.
  private func stranger(
    _ scene: BroadcastScene, _ stream: String, _ source: String
  ) throws -> RunningProgram {
    let capture = try RunningProgram(
      "framebus", ["capture", "--quiet", "--stream=\(stream)", "--", source],
      environment: ["FRAMEBUS_GROUP": "\(scene.group.id)", "FRAMEBUS_HOME": scene.root.path])
    try waitUntil("\(stream) exists: \(capture.transcript)") {
      try listStreams(in: scene.group).contains { $0.name.text == stream }
    }
    return capture
  }

  /// Writes the record of a session whose processes have all died.
  private func writeDeadSession(_ scene: BroadcastScene) throws -> SessionID {
    let record = BroadcastRecord(
      session: SessionID(), extensionID: BroadcastScene.extensionID, source: scene.source,
      stream: "screen")
    try SessionBoard(scene.group, as: .host).change { $0 = record }
    return record.session
  }

  /// A session that has ended except for its capture, because the host was killed.
  private func sceneWithOrphanedCapture() throws -> BroadcastScene {
    let scene = try BroadcastScene()
    let host = try scene.hostProcess()
    try scene.waitForTrace(["started 1", "video"])
    _ = try host.end(with: Signal.kill)
    // The extension applies the request itself; no host is left to end the capture.
    try SessionBoard(scene.group, as: .host).change { $0?.requested = .finish }
    try waitUntil("it is finished and only its capture runs, not \(scene.trace)") {
      let status = try scene.controller.status
      return status.phase == .finished && Array(status.pids.keys) == [.capture]
    }
    return scene
  }

  @Test func nextStartEndsOrphanedCapture() throws {
    try withWatchdog {
      let scene = try sceneWithOrphanedCapture()
      let pid = try #require(try scene.controller.status.pids[.capture])
      guard let left = ProcessWatch(pid) else { throw HarnessError("the capture is gone") }
      let session = try scene.start()
      #expect(try left.waitForEnd(until: .now))
      try scene.waitForTrace(["started 1", "video", "finished", "started 1", "video"])
      #expect(
        try scene.log().contains {
          $0.message == "process \(pid), a capture of an ended session, was terminated"
        })
      #expect(try scene.finish(session) == .finished)
    }
  }

  /// Stopping the capture does not require another broadcast.
  @Test func stopEndsOrphanedCapture() throws {
    try withWatchdog {
      let scene = try sceneWithOrphanedCapture()
      let stop = ["broadcast", "stop", "--root", scene.root.path, "--group", "\(scene.group.id)"]
      let ended = try run("framebus", stop)
      #expect(ended.status == .exited(0))
      #expect(
        ended.errors == "stopped 1 capture that an ended broadcast left running\n",
        "\(ended.errors)")
      #expect(try scene.controller.status.pids == [:])
      let again = try run("framebus", stop)
      #expect(again.status == .exited(1))
      #expect(again.errors.contains("no broadcast is active"), "\(again.errors)")
    }
  }

  @Test func startFailsWhileAnotherProcessPublishesStream() throws {
    try withWatchdog {
      let scene = try BroadcastScene()
      let stranger = try stranger(scene, "screen", "test:bars")
      let screen = try StreamName("screen")
      #expect(
        throws: BroadcastError.alreadyPublished(screen, pid: stranger.processID, uid: getuid())
      ) { try scene.start() }
      #expect(scene.trace == [])
      #expect(stranger.process.status == nil, "\(stranger.transcript)")
      try stranger.end(with: Signal.terminate)
      let session = try scene.start()
      try scene.waitForTrace(["started 1", "video"])
      #expect(try scene.finish(session) == .finished)
    }
  }

  @Test func unrelatedPublisherOfDeadSessionsStreamIsNeitherAdoptedNorEnded() throws {
    try withWatchdog {
      let scene = try BroadcastScene()
      let dead = try writeDeadSession(scene)
      let stranger = try stranger(scene, "screen", "test:bars")
      #expect(try scene.controller.status.pids == [:])
      var request = scene.request
      request.streams = [.video: try StreamName("mine")]
      let session = try scene.controller.start(request).session
      #expect(session != dead)
      try scene.waitForTrace(["started 1", "video"])
      #expect(try scene.finish(session) == .finished)
      #expect(stranger.process.status == nil, "\(stranger.transcript)")
      try stranger.end(with: Signal.terminate)
    }
  }

  /// A member that can create files among the sockets cannot affect processes outside the
  /// broadcast.
  @Test func linkToUnrelatedSocketIsIgnored() throws {
    try withWatchdog {
      let scene = try BroadcastScene()
      _ = try writeDeadSession(scene)
      let elsewhere = try BroadcastScene()
      let innocent = try elsewhere.hostProcess()
      try elsewhere.waitForTrace(["started 1", "video"])
      let uid = getuid()
      for (link, target) in [
        (
          "\(scene.group.mailboxesPath)/.broadcast-extension.\(uid).sock",
          "\(elsewhere.group.mailboxesPath)/.broadcast-extension.\(uid).sock"
        ),
        (
          "\(scene.group.streamsPath)/screen.sock", "\(elsewhere.group.streamsPath)/screen.sock"
        ),
      ] {
        #expect(FileManager.default.fileExists(atPath: target))
        try FileManager.default.createSymbolicLink(
          atPath: link, withDestinationPath: target)
      }
      #expect(try scene.controller.status.pids == [:])
      // It finds no process to stop.
      try scene.controller.finish()
      #expect(elsewhere.trace == ["started 1", "video"])
      #expect(innocent.process.status == nil)
      _ = try innocent.end(with: Signal.terminate)
    }
  }
}
