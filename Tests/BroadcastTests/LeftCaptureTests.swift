import AppGroup
import Foundation
import FrameBus
import Platform
import TestSupport
import Testing

@testable import Broadcast

/// Captures that a host meets: its session's own, one that a host left, and somebody else's.
@Suite struct LeftCaptureTests {
  /// Somebody's own capture into the scene's group.
  private func stranger(
    _ scene: BroadcastScene, _ stream: String, _ source: String
  ) throws -> RunningProgram {
    let capture = try RunningProgram(
      "framebus", ["capture", "--quiet", "--stream=\(stream)", "--", source],
      environment: ["FRAMEBUS_GROUP": "\(scene.group.id)", "FRAMEBUS_HOME": scene.root.path])
    try waitUntil("there is \(stream): \(capture.transcript)") {
      try listStreams(in: scene.group).contains { $0.name.text == stream }
    }
    return capture
  }

  /// The record of a session whose processes are all gone.
  private func writeDeadSession(_ scene: BroadcastScene) throws -> SessionID {
    let record = BroadcastRecord(
      session: SessionID(), extensionID: BroadcastScene.extensionID, source: scene.source,
      stream: "screen")
    try SessionBoard(scene.group, as: .host).change { $0 = record }
    return record.session
  }

  /// A session that is over, but for its capture: the host was killed.
  private func sceneWithLeftCapture() throws -> BroadcastScene {
    let scene = try BroadcastScene()
    let host = try scene.hostProcess()
    try scene.waitForTrace(["started 1", "video"])
    _ = try host.end(with: Signal.kill)
    // The extension heeds the wish by itself; nobody is left to end the capture.
    try SessionBoard(scene.group, as: .host).change { $0?.wish = .finish }
    try waitUntil("it is finished and its capture alone is left, not \(scene.trace)") {
      let status = try scene.controller.status
      return status.phase == .finished && Array(status.pids.keys) == [.capture]
    }
    return scene
  }

  @Test func aCaptureThatOutlivesItsHostAndItsSessionIsEndedByTheNextStart() throws {
    try withWatchdog {
      let scene = try sceneWithLeftCapture()
      let pid = try #require(try scene.controller.status.pids[.capture])
      guard let left = ProcessWatch(pid) else { throw HarnessError("the capture is gone") }
      let session = try scene.start()
      #expect(try left.waitForEnd(until: .now))
      try scene.waitForTrace(["started 1", "video", "finished", "started 1", "video"])
      #expect(
        try scene.log().contains {
          $0.message == "process \(pid), a capture of a session that is over, was ended"
        })
      #expect(try scene.finish(session) == .finished)
    }
  }

  /// Whoever wants the filming to end need not start another broadcast for that.
  @Test func aCaptureThatOutlivesItsHostAndItsSessionIsEndedByStop() throws {
    try withWatchdog {
      let scene = try sceneWithLeftCapture()
      let stop = ["broadcast", "stop", "--root", scene.root.path, "--group", "\(scene.group.id)"]
      let ended = try run("framebus", stop)
      #expect(ended.status == .exited(0))
      #expect(ended.errors.hasSuffix("left running: 1 capture\n"), "\(ended.errors)")
      #expect(try scene.controller.status.pids == [:])
      let again = try run("framebus", stop)
      #expect(again.status == .exited(1))
      #expect(again.errors.contains("no broadcast is under way"), "\(again.errors)")
    }
  }

  @Test func whatAStrangerPublishesIsNotBroadcast() throws {
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

  @Test func aStrangersPublisherOfADeadSessionsPicturesIsNeitherAdoptedNorEnded() throws {
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

  /// A member that may make files among the sockets has no say over processes that are none of the
  /// broadcast's.
  @Test func aLinkToAnotherProgramsSocketMakesThatNoRole() throws {
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
      // Finds nobody to finish.
      try scene.controller.finish()
      #expect(elsewhere.trace == ["started 1", "video"])
      #expect(innocent.process.status == nil)
      _ = try innocent.end(with: Signal.terminate)
    }
  }
}
