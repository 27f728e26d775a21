import Foundation
import Platform
import TestSupport
import Testing

/// A stream that stops: every program that shows it says why.
@Suite struct PauseReasonTests {
  private let screen: VirtualScreen
  private let window: ShownWindow
  private let scene: Scene
  private let capture: RunningProgram

  private static let words =
    "its source shows nothing, such as a screen that is off or locked, a hidden window, or "
    + "another machine that is away"

  init() throws {
    screen = try VirtualScreen(width: 320, height: 180)
    window = try ShownWindow("one", "60x40+20+30", on: screen)
    scene = try Scene()
    capture = try scene.start(
      "capture", "window:\(window.id)", "--no-cursor", environment: screen.environment)
    _ = try scene.waitForStream("the capture publishes") { _ in true }
  }

  private func snapshot(_ name: String, _ options: String...) throws -> ProgramResult {
    try scene.start(["snapshot", "screen", scene.file(name)] + options).finish()
  }

  private func exists(_ name: String) -> Bool {
    FileManager.default.fileExists(atPath: scene.file(name))
  }

  @Test func reasonOfAPauseIsToldEverywhereAndOnce() throws {
    try withWatchdog {
      let upload = try scene.start("upload", "null")
      _ = try scene.waitForStream("it is read") { $0.subscribers.first?.received ?? 0 > 0 }
      try window.perform("hide")
      _ = try scene.waitForStream("it is paused") { $0.state == "paused" }
      let streams = try scene.run("streams").output
      #expect(streams.contains("  paused (\(Self.words))  "), "\(streams)")
      #expect(try scene.run("streams", "--json").output.contains(#""reason" : "unavailable""#))
      let top = try scene.run("top", "--count=1", "--interval=0.1").output
      #expect(top.contains("  paused (\(Self.words))  "), "\(top)")
      let record = try scene.run("top", "--count=1", "--interval=0.1", "--json").output
      #expect(record.contains(#""reason":"unavailable""#), "\(record)")
      try capture.waitForErrors("paused: \(Self.words)")
      try upload.waitForErrors("“screen” is paused: \(Self.words)")
      try window.perform("show")
      try capture.waitForErrors("resumed")
      try upload.waitForErrors("“screen” continues")
      let lines = try scene.run("log", "--role=capture").output.split(separator: "\n")
      #expect(lines.count { $0.contains("stream paused: \(Self.words)") } == 1, "\(lines)")
      #expect(lines.count { $0.contains("stream resumed") } == 1, "\(lines)")
    }
  }

  @Test func snapshotOfAPausedStreamFailsUnlessAnOldPictureIsAllowed() throws {
    try withWatchdog {
      let fresh = try snapshot("fresh.png", "--json")
      #expect(fresh.status == .exited(0), "\(fresh.errors)")
      try window.perform("hide")
      let hidden = ContinuousClock.now
      let refused = try snapshot("refused.png")
      let seconds = hidden.duration(to: .now) / .seconds(1)
      #expect(refused.status == .exited(1))
      #expect(
        refused.errors.contains(" s old, and the stream is paused: \(Self.words)")
          && refused.errors.contains("--allow-old"), "\(refused.errors)")
      #expect(!exists("refused.png"))
      let old = try snapshot("old.png", "--allow-old")
      #expect(old.status == .exited(0), "\(old.errors)")
      #expect(old.errors.contains(" s old, and the stream is paused"), "\(old.errors)")
      #expect(exists("old.png"))
      // At least the time that the first one took, rounded.
      let age = try #require(old.errors.firstMatch(of: /([0-9.]+) s old/)?.1)
      #expect(try #require(Double(age)) > seconds - 0.1, "\(old.errors)")
      try window.perform("show")
      #expect(try snapshot("fresh.png").status == .exited(0))
    }
  }

  @Test func snapshotOfACaptureThatHangsFails() throws {
    try withWatchdog {
      let reader = try scene.start("upload", "null")
      let row = try scene.waitForStream("it is read") { $0.subscribers.first?.received ?? 0 > 0 }
      // Stops all but the control plane, as a capture that waits for its X server.
      screen.server.process.send(signal: SIGSTOP)
      let refused = try snapshot("refused.png")
      screen.server.process.send(signal: SIGCONT)
      #expect(refused.status == .exited(1))
      #expect(refused.errors.contains("has published no newer one"), "\(refused.errors)")
      #expect(row.publisher.pid == capture.processID)
      withExtendedLifetime(reader) {}
    }
  }
}
