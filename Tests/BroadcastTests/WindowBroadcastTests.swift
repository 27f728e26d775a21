import AppGroup
import Foundation
import Platform
import TestSupport
import Testing

@testable import Broadcast

/// `framebus broadcast start --source window:TITLE`.
@Suite struct WindowBroadcastTests {
  private let screen: VirtualScreen
  private let scene: BroadcastScene

  init() throws {
    screen = try VirtualScreen(width: 320, height: 240)
    scene = try BroadcastScene()
  }

  private func start(_ source: String) throws -> RunningProgram {
    try RunningProgram(
      "framebus",
      [
        "broadcast", "start", "--yes", "--source", source, BroadcastScene.extensionID, "--root",
        scene.root.path, "--group", "\(scene.group.id)",
      ], environment: screen.environment)
  }

  /// Waits until the extension got these calls, besides names of applications.
  private func wait(for calls: [String]) throws {
    try waitUntil("the calls are \(calls), not \(scene.trace)") {
      scene.trace.filter { !$0.hasPrefix("annotated ") } == calls
    }
  }

  @Test func windowStaysTheSourceWhateverItsTitleAndHoweverOftenItsCaptureRestarts() throws {
    try withWatchdog {
      let window = try ShownWindow("one", "60x40+20+30", on: screen)
      let other = try ShownWindow("two", "60x40+120+30", on: screen)
      try window.setTitle("Budget 2027")
      let host = try start("window:budget 2027")
      try wait(for: ["started 1", "video"])
      let status = try scene.controller.status
      #expect(status.source == "window:\(window.id)")
      #expect(status.confinement[.capture]?.hasPrefix("on") == true, "\(status.confinement)")
      try window.setTitle("Mail")
      try other.setTitle("Budget 2027")
      try scene.kill(.capture)
      try wait(for: ["started 1", "video", "paused captureLost", "resumed", "video"])
      #expect(try host.end(with: Signal.terminate).status == .exited(0))
    }
  }

  @Test func unknownWindowStartsNothing() throws {
    let result = try start("window:nobody").finish()
    #expect(result.status == .exited(1))
    #expect(result.errors.contains("“nobody”"))
    #expect(try scene.controller.status.session == nil)
  }

  @Test func interruptedPickStartsNothing() throws {
    try withWatchdog {
      let host = try start("window:pick")
      try host.waitForErrors("click on the window")
      #expect(try host.end(with: Signal.interrupt).status == .exited(130))
      #expect(try scene.controller.status.session == nil)
    }
  }
}
