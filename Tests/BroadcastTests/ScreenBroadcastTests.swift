import AppGroup
import Foundation
import FrameBus
import Platform
import TestSupport
import Testing

@testable import Broadcast

/// Broadcasts of an X screen: its changes reach the extension and other members.
@Suite struct ScreenBroadcastTests {
  private let screen: VirtualScreen
  private let scene: BroadcastScene

  init() throws {
    screen = try VirtualScreen(width: 320, height: 240)
    scene = try BroadcastScene(source: "screen:\(screen.display)")
  }

  /// The applications that the extension received, in order.
  private var annotations: [String] {
    scene.trace.filter { $0.hasPrefix("annotated ") }.map { String($0.dropFirst(10)) }
  }

  private func waitForAnnotations(_ names: [String]) throws {
    try waitUntil("\(names) are reported, not \(scene.trace), \(scene.events.all)") {
      annotations == names
    }
  }

  /// Brings the window to the front: a window manager that has just started does not do so.
  private func show(_ name: String, on desktop: Desktop) throws -> ShownWindow {
    let window = try ShownWindow(name, "60x40+20+30", on: screen)
    try desktop.bringToFront(window)
    return window
  }

  @Test func frontApplicationsAreReportedInOrder() throws {
    try withWatchdog {
      let desktop = try Desktop(on: screen)
      let one = try show("one", on: desktop)
      let session = try scene.start()
      try waitForAnnotations(["one"])
      let two = try show("two", on: desktop)
      try waitForAnnotations(["one", "two"])
      try desktop.bringToFront(one)
      try waitForAnnotations(["one", "two", "one"])
      // The host's value lasts until another application moves to the front.
      try scene.controller.annotate(applicationID: "org.example.host")
      try waitForAnnotations(["one", "two", "one", "org.example.host"])
      try desktop.bringToFront(two)
      try waitForAnnotations(["one", "two", "one", "org.example.host", "two"])
      #expect(try scene.controller.status.applicationID == "two")
      #expect(try scene.finish(session) == .finished)
    }
  }

  @Test func frontApplicationIsReportedWithoutHostAndByRestartedCapture() throws {
    try withWatchdog {
      let desktop = try Desktop(on: screen)
      let one = try show("one", on: desktop)
      let host = try scene.hostProcess()
      try waitForAnnotations(["one"])
      _ = try host.end(with: Signal.kill)
      let two = try show("two", on: desktop)
      try waitForAnnotations(["one", "two"])
      let session = try scene.start()
      try scene.kill(.capture)
      try desktop.bringToFront(one)
      try waitForAnnotations(["one", "two", "one"])
      #expect(try scene.finish(session) == .finished)
      withExtendedLifetime(two) {}
    }
  }

  /// The capture keeps the saver from starting by itself, but somebody may start it.
  @Test func screenHiddenByItsSaverPausesBroadcastWithReason() throws {
    try withWatchdog {
      let session = try scene.start()
      try scene.waitForTrace(["started 1", "video"])
      let saver = try screen.show("/usr/bin/python3", [tool("screen_saver.py"), "show"])
      try saver.waitForOutput("on")
      try scene.waitForTrace(["started 1", "video", "paused unavailable"])
      // The record changes after the call.
      try waitUntil("the pause is recorded") {
        try scene.controller.status.pauses == [.unavailable]
      }
      let location = ["--root", scene.root.path, "--group", "\(scene.group.id)"]
      let status = try output(of: "framebus", ["broadcast", "status"] + location)
      let words = "paused, unavailable (its source shows nothing, such as a screen that is off"
      #expect(status.contains(words), "\(status)")
      // Its extension would see the screen as soon as it is on.
      #expect(try scene.controller.status.isCaptured)
      try screen.show("xset", ["s", "reset"]).finish()
      try scene.waitForTrace(["started 1", "video", "paused unavailable", "resumed", "video"])
      #expect(try scene.finish(session) == .finished)
      withExtendedLifetime(saver) {}
    }
  }

  /// The clock is another screen's saver, which starts later.
  @Test func saverStartsOnlyAfterBroadcast() throws {
    try withWatchdog {
      let clock = try VirtualScreen(width: 64, height: 48)
      func saver(of screen: VirtualScreen) throws -> String {
        try output(of: "/usr/bin/python3", [tool("screen_saver.py"), "state", screen.display])
      }
      let session = try scene.start()
      try scene.waitForTrace(["started 1", "video"])
      for screen in [screen, clock] {
        try output(of: "xset", ["-display", screen.display, "s", "1", "1"])
      }
      try waitUntil("the other screen's saver is on") { try saver(of: clock) == "on" }
      #expect(try saver(of: screen) == "off")
      #expect(try scene.finish(session) == .finished)
      try waitUntil("the saver is on") { try saver(of: screen) == "on" }
    }
  }

  @Test func extensionStartedWhileScreenIsOffReceivesNoOldFrame() throws {
    try withWatchdog {
      let session = try scene.start()
      try scene.waitForTrace(["started 1", "video"])
      let saver = try screen.show("/usr/bin/python3", [tool("screen_saver.py"), "show"])
      try saver.waitForOutput("on")
      try scene.waitForTrace(["started 1", "video", "paused unavailable"])
      try scene.kill(.extension)
      let paused = ["started 1", "video", "paused unavailable", "started 2", "paused unavailable"]
      try scene.waitForTrace(paused)
      try screen.show("xset", ["s", "reset"]).finish()
      try scene.waitForTrace(paused + ["resumed", "video"])
      #expect(try scene.finish(session) == .finished)
      withExtendedLifetime(saver) {}
    }
  }

  @Test func captureStateReachesObserversAndLateReaders() throws {
    try withWatchdog {
      func framebus(_ arguments: String...) throws -> RunningProgram {
        try RunningProgram(
          "framebus", arguments + ["--root", scene.root.path, "--group", "\(scene.group.id)"])
      }
      func isCaptured() throws -> Bool {
        let state = try framebus("notify", "state", BroadcastNames.captured, "--json").finish()
        let status = try framebus("broadcast", "status", "--json").finish()
        let isCaptured = state.output.contains(#""state" : 1"#)
        #expect(status.output.contains(#""isCaptured" : \#(isCaptured)"#), "\(status.output)")
        return isCaptured
      }
      let watch = try framebus("notify", "watch", BroadcastNames.captured, "--json")
      try watch.waitForErrors("watching")
      // Of several keepers, one may correct what another one wrote late: more changes than these.
      func waitForStates(_ states: [Int]) throws {
        try waitUntil("\(states) are reported") {
          let reported = watch.output.text.split(separator: "\n").map {
            $0.contains(#""state":1"#) ? 1 : 0
          }
          return reported.count >= states.count && reported.last == states.last
        }
      }
      #expect(try !isCaptured())
      let session = try scene.start()
      try waitForStates([1])
      #expect(try isCaptured())
      try scene.controller.pause()
      try waitForStates([1, 0])
      #expect(try !isCaptured())
      // Another program sees the screen during the pause.
      let reader = try framebus("upload", "null")
      try waitForStates([1, 0, 1])
      #expect(try scene.controller.status.phase == .paused)
      #expect(try isCaptured())
      _ = try reader.end(with: SIGKILL)
      try waitForStates([1, 0, 1, 0])
      try scene.controller.resume()
      try waitForStates([1, 0, 1, 0, 1])
      #expect(try scene.finish(session) == .finished)
      try waitForStates([1, 0, 1, 0, 1, 0])
      #expect(try !isCaptured())
    }
  }

  @Test func captureIdlesWhileExtensionIsDead() throws {
    try withWatchdog {
      // A moving window that could be captured.
      let clock = try screen.show("xclock", ["-update", "1"])
      var request = scene.request
      request.restarts.firstDelay = .seconds(3600)
      request.restarts.longestDelay = .seconds(3600)
      let session = try scene.controller.start(request).session
      try scene.waitForTrace(["started 1", "video"])
      try scene.kill(.extension)
      let capture = ProcessFacts(try #require(try scene.controller.status.pids[.capture]))
      let stream = try StreamName("screen")
      func work() throws -> [Int] {
        let status = try listStreams(in: scene.group, timeout: .seconds(30))
          .first { $0.name == stream }
        return [
          Int(try #require(status).cursor), try capture.userTicks + capture.systemTicks,
        ]
      }
      try waitUntil("the capture is idle for a second") {
        let before = try work()
        sleep(until: .after(.seconds(1)))
        let after = try work()
        return before[0] == after[0] && after[1] - before[1] <= 1
      }
      #expect(try scene.controller.status.pids[.extension] == nil)
      #expect(try scene.finish(session) != nil)
      withExtendedLifetime(clock) {}
    }
  }
}
