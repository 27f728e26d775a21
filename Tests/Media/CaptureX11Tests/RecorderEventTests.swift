import Capture
import Foundation
import FrameBus
import Platform
import ScreenRecorder
import Synchronization
import TestSupport
import Testing

/// What a capture in an application's process tells it besides the frames, and how it captures.
@Suite struct RecorderEventTests {
  /// What the closures were called with, in this order; of consecutive frames of one colour, one.
  private final class Calls: Sendable {
    private let list = Mutex<[String]>([])

    func add(_ call: String) { list.withLock { if $0.last != call { $0.append(call) } } }
    var all: [String] { list.withLock { $0 } }

    func wait(_ what: String, _ isDone: ([String]) -> Bool) throws {
      try waitUntil("\(what), not \(all)") { isDone(all) }
    }
  }

  /// A running capture of a screen.
  private func start(
    _ world: ScreenWorld, _ calls: Calls, _ change: (inout CaptureSettings) -> Void = { _ in }
  ) throws -> ScreenRecorder {
    let recorder = ScreenRecorder(in: world.group, stream: world.stream)
    var options = ScreenRecorder.Options()
    options.display = world.screen.display
    options.capture.drawsCursor = false
    change(&options.capture)
    try recorder.startCapture(
      options, onPause: { calls.add("paused \($0)") }, onResume: { calls.add("resumed") },
      onNotice: { calls.add($0) }, onEnd: { calls.add("ended \($0.map { "\($0)" } ?? "")") }
    ) { frame in
      let color = TakenFrame(frame).pixel(5, 5)
      calls.add(
        "\(String(color, radix: 16)) \(frame.metadata.orientation) \(frame.format.width)")
    }
    return recorder
  }

  private static let blue = "336699 up 320"

  @Test func saverPausesTheCaptureWithItsReason() throws {
    try withWatchdog {
      let world = try ScreenWorld()
      try world.paint("#336699")
      let calls = Calls()
      let recorder = try start(world, calls)
      try calls.wait("a frame") { $0.contains(Self.blue) }
      let saver = try ScreenSaver(on: world.screen)
      try calls.wait("a pause") { $0.last == "paused unavailable" }
      try world.saver("reset")
      try calls.wait("frames again") { $0.contains("resumed") && $0.last == Self.blue }
      recorder.stopCapture()
      try recorder.waitUntilEnded()
      try calls.wait("the end") { $0.last == "ended " }
      withExtendedLifetime(saver) {}
    }
  }

  @Test func saverIsCapturedIfTheSettingsSaySo() throws {
    try withWatchdog {
      let world = try ScreenWorld()
      try world.paint("#336699")
      let calls = Calls()
      let recorder = try start(world, calls) { settings in
        settings.whileSaver = .capture
        settings.orientation = .right
        settings.region = PixelRect(x: 0, y: 0, width: 100, height: 80)
      }
      try calls.wait("a frame") { $0.contains("336699 right 100") }
      let saver = try ScreenSaver(on: world.screen)
      try calls.wait("the saver") { $0.contains("ff00ff right 100") }
      recorder.stopCapture()
      try recorder.waitUntilEnded()
      withExtendedLifetime(saver) {}
    }
  }

  @Test(arguments: [nil, CaptureSettings.Backend.socket])
  func missingSharedMemoryIsToldUnlessItIsNotUsed(backend: CaptureSettings.Backend?) throws {
    try withWatchdog {
      let world = try ScreenWorld(options: ["-extension", "MIT-SHM"])
      try world.paint("#336699")
      let calls = Calls()
      let recorder = try start(world, calls) { $0.backend = backend }
      try calls.wait("a frame") { $0.contains(Self.blue) }
      let notices = calls.all.filter { $0.contains("frames come over its socket") }
      #expect(notices.count == (backend == nil ? 1 : 0), "\(calls.all)")
      if backend == nil { #expect(calls.all.first == notices.first) }
      recorder.stopCapture()
      try recorder.waitUntilEnded()
    }
  }
}
