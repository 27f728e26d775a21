import AppGroup
import Broadcast
import Foundation
import Platform
import TestSupport
import Testing

/// When a broadcast is live: once the extension's destination has accepted a sample.
@Suite struct ConnectingTests {
  private func tell(_ word: String, _ scene: BroadcastScene) throws {
    let trace = try #require(FileHandle(forWritingAtPath: scene.root.file("trace")))
    try trace.seekToEnd()
    try trace.write(contentsOf: Data("\(word)\n".utf8))
  }

  @Test func broadcastIsNotLiveBeforeFirstSampleIsProcessed() throws {
    try withWatchdog {
      let scene = try BroadcastScene(["processesOn=go"])
      let session = try scene.start()
      try scene.waitForTrace(["started 1", "video"])
      #expect(try scene.controller.status.phase == .starting)
      try tell("go", scene)
      try scene.events.wait(for: .live)
      #expect(try scene.controller.status.phase == .live)
      #expect(try scene.finish(session) == .finished)
      #expect(!scene.events.all.contains(.connecting(failure: "")))
    }
  }

  @Test func extensionThatReportsConnectingIsLiveOnlyWhenItSaysSo() throws {
    try withWatchdog {
      let scene = try BroadcastScene(["connecting=the server is busy", "liveOn=go"])
      let session = try scene.start()
      let connecting = BroadcastEvent.connecting(failure: "the server is busy")
      try scene.events.wait(for: connecting)
      try scene.waitForTrace(["started 1", "video"])
      let status = try scene.controller.status
      #expect(status.phase == .connecting && status.connectionFailure == "the server is busy")
      // A test pattern shows no screen.
      #expect(!status.isCaptured)
      try scene.controller.pause()
      try scene.events.wait(for: .paused([.requested]))
      try scene.controller.resume()
      try waitUntil("it connects again, \(scene.events.all)") {
        scene.events.all.count { $0 == connecting } == 2
      }
      #expect(!scene.events.all.contains(.live))
      // The extension writes no more lines, at its own position in the file.
      try scene.waitForTrace(["started 1", "video", "paused requested", "resumed", "video"])
      try tell("go", scene)
      try scene.events.wait(for: .live)
      let live = try scene.controller.status
      #expect(live.phase == .live && live.connectionFailure.isEmpty)
      #expect(try scene.finish(session) == .finished)
    }
  }
}
