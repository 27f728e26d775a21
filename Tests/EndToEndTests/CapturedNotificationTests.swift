import Foundation
import Platform
import TestSupport
import Testing

/// The notification `framebus.captured` of a screen that is read without a broadcast, whichever
/// process is killed.
@Suite struct CapturedNotificationTests {
  private let screen: VirtualScreen
  private let scene: Scene
  private let watch: RunningProgram

  private static let name = "framebus.captured"

  init() throws {
    screen = try VirtualScreen(width: 320, height: 180)
    scene = try Scene()
    watch = try scene.start("notify", "watch", Self.name, "--json")
    try watch.waitForErrors("watching")
  }

  private func capture(_ source: String) throws -> RunningProgram {
    let capture = try scene.start("capture", source)
    _ = try scene.waitForStream("the capture publishes") { _ in true }
    return capture
  }

  private func waitForStates(_ states: [Int]) throws {
    try waitUntil("\(states) are reported, not \(watch.output.text)") {
      watch.output.text.split(separator: "\n").map { $0.contains(#""state":1"#) ? 1 : 0 }
        == states
    }
  }

  private func state() throws -> String { try scene.run("notify", "state", Self.name).output }

  @Test func stateFollowsSubscribersAndCapturesThatAreKilled() throws {
    try withWatchdog {
      let capture = try capture("screen\(screen.display)")
      #expect(try state() == "0\n")
      let first = try scene.start("upload", "null")
      try waitForStates([1])
      #expect(try state() == "1\n")
      let second = try scene.start("record", "screen", scene.file("screen.fbr"))
      _ = try scene.waitForStream("both subscribe") { $0.subscribers.count == 2 }
      _ = try first.end(with: SIGKILL)
      _ = try scene.waitForStream("one is left") { $0.subscribers.count == 1 }
      #expect(try state() == "1\n")
      let lines = try scene.run("streams").output
      #expect(lines.contains("  captured"), "\(lines)")
      _ = try second.end(with: SIGKILL)
      try waitForStates([1, 0])
      #expect(try state() == "0\n")
      let third = try scene.start("upload", "null")
      try waitForStates([1, 0, 1])
      _ = try capture.end(with: SIGKILL)
      try waitForStates([1, 0, 1, 0])
      #expect(try state() == "0\n")
      withExtendedLifetime(third) {}
    }
  }

  @Test func stateIsCorrectedAfterAllProcessesWereKilled() throws {
    try withWatchdog {
      let capture = try capture("screen\(screen.display)")
      let upload = try scene.start("upload", "null")
      try waitForStates([1])
      for program in [watch, upload, capture] { _ = try program.end(with: SIGKILL) }
      #expect(try state() == "0\n")
    }
  }

  @Test func testPatternIsNotAScreen() throws {
    try withWatchdog {
      let capture = try capture("test:gradient")
      let upload = try scene.start("upload", "null")
      _ = try scene.waitForStream("it is read") { $0.subscribers.count == 1 }
      #expect(try state() == "0\n")
      #expect(watch.output.text.isEmpty)
      withExtendedLifetime((capture, upload)) {}
    }
  }
}
