import AppGroup
import Capture
import Foundation
import FrameBus
import Platform
import SharedLog
import TestSupport
import Testing

@testable import Broadcast

/// A broadcast of the frames that an application publishes itself.
@Suite struct StreamSourceTests {
  private static let awaited = BroadcastEvent.connecting(
    failure: "no stream game is published yet")

  /// An application that publishes the stream `game`.
  private func application(_ scene: BroadcastScene, _ settings: String...) throws -> RunningProgram
  {
    let program = try RunningProgram(
      "BroadcastWorker", ["publish", scene.root.path, "\(scene.group.id)", "game"] + settings)
    try program.waitForOutput("publishes")
    return program
  }

  /// Waits until the application has published ten more frames.
  private func waitForMore(of application: RunningProgram) throws {
    func count() -> Int { application.output.text.split(separator: "\n").count }
    let before = count()
    try waitUntil("more is published") { count() >= before + 2 }
  }

  /// The extension checks each picture against the number drawn into it.
  @Test func broadcastFollowsApplicationThatStartsLateDiesAndComesBack() throws {
    try withWatchdog {
      let scene = try BroadcastScene(["check=1"], source: "stream:game")
      let session = try scene.start()
      try scene.events.wait(for: Self.awaited)
      let waiting = try scene.controller.status
      #expect(waiting.phase == .connecting)
      #expect(waiting.connectionFailure == "no stream game is published yet")
      let first = try application(scene)
      try scene.events.wait(for: .live)
      var calls = ["started 1", "video"]
      try scene.waitForTrace(calls)
      // Nothing is captured.
      let live = try scene.controller.status
      #expect(Set(live.pids.keys) == [.host, .extension] && live.source == "stream:game")
      #expect(live.connectionFailure.isEmpty)
      #expect(live.options["protect"]?.hasPrefix("impossible") == true, "\(live.options)")
      #expect(!live.isCaptured)
      _ = try first.end(with: Signal.kill)
      try scene.events.wait(for: .paused([.captureLost]))
      let second = try application(scene)
      try scene.events.wait(for: .resumed)
      calls += ["paused captureLost", "resumed", "video"]
      try scene.waitForTrace(calls)
      try scene.kill(.extension)
      calls += ["started 2", "video"]
      try scene.waitForTrace(calls)
      // An application that ends its stream ends the broadcast.
      _ = try second.end(with: Signal.terminate)
      #expect(try scene.controller.waitForEnding(of: session) == .finished)
      #expect(scene.trace == calls + ["finished"], "\(scene.events.all)")
    }
  }

  @Test func nextHostTakesBroadcastOver() throws {
    try withWatchdog {
      let scene = try BroadcastScene(["check=1"], source: "stream:game")
      let application = try application(scene)
      let host = try scene.hostProcess()
      try scene.waitForTrace(["started 1", "video"])
      _ = try host.end(with: Signal.kill)
      let session = try scene.start()
      try scene.events.wait(for: .started(session, isAdopted: true))
      try scene.kill(.extension)
      try scene.waitForTrace(["started 1", "video", "started 2", "video"])
      #expect(try scene.finish(session) == .finished)
      // The broadcast did not start the application, and does not end it.
      try waitForMore(of: application)
      _ = try application.end(with: Signal.terminate)
    }
  }

  /// A capture follows the switch itself; an application need not.
  @Test func soundOfApplicationIsDeliveredOnlyWhileItIsSwitchedOn() throws {
    try withWatchdog {
      let scene = try BroadcastScene(
        ["sound=1"], samples: [.video, .audioApp], source: "stream:game")
      let application = try application(scene, "sound=1")
      var request = scene.request
      request.sound[.audioApp] = false
      let session = try scene.controller.start(request).session
      try waitUntil("the extension has the sound stream") {
        try scene.log().contains { $0.message.hasPrefix("receiving audio-app") }
      }
      try waitForMore(of: application)
      #expect(scene.trace == ["started 1", "video"])
      try scene.controller.setSound(app: true, mic: nil)
      try waitUntil("sound is delivered: \(scene.trace)") {
        scene.trace.contains("audio-app 1 48000x2 480")
      }
      #expect(try scene.finish(session) == .finished)
    }
  }

  @Test(arguments: [
    (["--fps", "30"], "--fps: nothing is captured"),
    (["--protect", "mail", "--no-cursor"], "--cursor, --protect: nothing is captured"),
    (["--no-protect"], "--no-protect: nothing is captured"),
    (["--stream", "other"], "--stream: nothing is captured"),
    (["--app-source", "pulse:monitor"], "--app-source: the sound of stream:game comes from"),
    (
      ["--mic-source", "stream:game"], "publishes the stream “game”, so there is nothing to capture"
    ),
  ])
  func optionsOfCaptureAreRefused(options: [String], message: String) throws {
    let result = try run(
      "framebus", ["broadcast", "start", "x", "--source", "stream:game"] + options)
    #expect(result.status == .exited(2) && result.errors.contains(message), "\(result.errors)")
  }

  @Test func malformedNamesAndCapturesOfStreamsAreRefused() throws {
    let long = String(repeating: "a", count: 39)
    for (source, message) in [
      ("stream", "stream:game"), ("stream:", "stream:game"), ("stream:Game", "not allowed"),
      ("stream:../x", "not allowed"), ("stream:\(long)", "has 49 bytes; use 1 to 48"),
    ] {
      let result = try run("framebus", ["broadcast", "start", "x", "--source", source])
      #expect(result.status == .exited(2) && result.errors.contains(message), "\(result.errors)")
    }
    let capture = try run("framebus", ["capture", "stream:game"])
    #expect(capture.status == .exited(2))
    #expect(capture.errors.contains("framebus broadcast start EXTENSION --source stream:game"))
  }

  @Test func requestWithTypedSourceHasItsStreamsAndConsentText() throws {
    let scene = try BroadcastScene(samples: [.video, .audioApp, .audioMic])
    let manifest = try ExtensionRegistry(scene.group).manifest(of: BroadcastScene.extensionID)
    var request = BroadcastRequest(
      extensionID: BroadcastScene.extensionID, source: .stream(try StreamName("game")))
    #expect(request.source == "stream:game")
    #expect(
      "\(request.sources(for: manifest))"
        == "video=game,audio-app=game.audio.app,audio-mic=game.audio.mic")
    #expect("\(request.capturedSound(for: manifest))" == "audio-mic=game.audio.mic")
    request.sound[.audioMic] = true
    let consent = BroadcastConsent(to: request, for: manifest)
    #expect(consent.isRequired)
    #expect(
      consent.text == """
        The frames that applications of this group publish as game are shown to others while this \
        broadcast lasts. They hear the sound published as game.audio.app and your microphone.
        """)
    request.capture.drawsCursor = false
    #expect(throws: BroadcastError.optionsOfCapture(try StreamName("game"), ["cursor"])) {
      try scene.controller.start(request)
    }
    // Any member can write the record: it leads to no other stream.
    var record = BroadcastRecord(
      session: SessionID(), extensionID: "", source: "stream:game", stream: "screen")
    record.sound = try #require(SampleSources("audio-app=other"))
    #expect(
      "\(request.adopting(record).sources(for: manifest))"
        == "video=game,audio-app=game.audio.app,audio-mic=game.audio.mic")
  }
}
