import Capture
import Foundation
import FrameBus
import Platform
import ScreenRecorder
import Synchronization
import TestSupport
import Testing

/// Captures in the process of the application.
@Suite struct ScreenRecorderTests {
  /// What a handler received.
  private final class Frames: Sendable {
    private let frames = Mutex<[TakenFrame]>([])

    func add(_ frame: borrowing FrameLease) {
      let taken = TakenFrame(frame)
      frames.withLock { $0.append(taken) }
    }

    var count: Int { frames.withLock { $0.count } }
    /// How often the end was reported.
    private let ends = Mutex(0)
    var endCount: Int { ends.withLock { $0 } }
    func end() { ends.withLock { $0 += 1 } }

    func wait(where isWanted: (TakenFrame) -> Bool) throws {
      try waitUntil("a frame is as wanted, of \(count)") {
        frames.withLock { $0.contains(where: isWanted) }
      }
    }
  }

  private func options(_ world: ScreenWorld) -> ScreenRecorder.Options {
    var options = ScreenRecorder.Options()
    options.display = world.screen.display
    options.drawsCursor = false
    return options
  }

  @Test func framesReachTheHandlerUntilTheCaptureIsStopped() throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let window = try ShownWindow("one", "60x40+20+30", on: world.screen)
      let recorder = ScreenRecorder(in: world.group, stream: world.stream)
      #expect(!recorder.isRecording)
      let frames = Frames()
      try recorder.startCapture(options(world), onEnd: { _ in frames.end() }) { frames.add($0) }
      #expect(recorder.isRecording)
      try frames.wait { $0.width == 320 && $0.magentaCount == 60 * 40 }
      try window.perform("resize 90 70")
      try frames.wait { $0.magentaCount == 90 * 70 }
      #expect(throws: ScreenRecorderError.self) {
        try recorder.startCapture(options(world)) { _ in }
      }
      recorder.stopCapture()
      try recorder.waitUntilEnded()
      #expect(!recorder.isRecording)
      #expect(frames.endCount == 1)
      let count = frames.count
      try world.paint("#123456")
      // Another capture of the same recorder has frames of its own.
      let again = Frames()
      try recorder.startCapture(options(world)) { again.add($0) }
      try again.wait { $0.count(of: 0x123456) > 0 }
      recorder.stopCapture()
      try recorder.waitUntilEnded()
      #expect(frames.count == count)
    }
  }

  @Test func handlerCanStopTheCapture() throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let recorder = ScreenRecorder(in: world.group, stream: world.stream)
      let frames = Frames()
      try recorder.startCapture(options(world)) { frame in
        frames.add(frame)
        recorder.stopCapture()
      }
      try recorder.waitUntilEnded()
      #expect(frames.count == 1)
    }
  }

  @Test func markedAndNamedWindowsAreBlackWithoutAnOption() throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let marked = try ShownWindow("marked", "60x40+20+30", on: world.screen)
      try marked.perform("mark")
      let named = try ShownWindow("named", "60x40+120+30", on: world.screen)
      let open = try ShownWindow("open", "50x40+220+30", on: world.screen)
      let set = try ShownWindow("set", "40x40+120+130", on: world.screen)
      try output(
        of: pathOfProgram("framebus"),
        [
          "defaults", "write", "\(world.group.id)", "protectedWindows", "--type", "json",
          #"["set"]"#, "--root", world.root.path, "--group", "\(world.group.id)",
        ])
      let recorder = ScreenRecorder(in: world.group, stream: world.stream)
      var options = options(world)
      options.protected = ["named"]
      let frames = Frames()
      try recorder.startCapture(options) { frames.add($0) }
      try frames.wait { $0.magentaCount == 50 * 40 }
      recorder.stopCapture()
      try recorder.waitUntilEnded()
      options.protected = ["0x2a0000g"]
      #expect(throws: ScreenRecorderError.self) { try recorder.startCapture(options) { _ in } }
      withExtendedLifetime((named, open, set)) {}
    }
  }

  @Test func windowIsCapturedAloneAndItsEndIsNoError() throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let window = try ShownWindow("one", "60x40+20+30", on: world.screen)
      try window.setTitle("Budget 2027")
      let recorder = ScreenRecorder(in: world.group, stream: world.stream)
      var options = options(world)
      options.window = .named("budget 2027")
      let frames = Frames()
      try recorder.startCapture(options) { frames.add($0) }
      try frames.wait { $0.width == 60 && $0.magentaCount == 60 * 40 }
      try window.close()
      try recorder.waitUntilEnded()
    }
  }

  @Test func whatCannotBeCapturedIsAnErrorOfTheStart() throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let recorder = ScreenRecorder(in: world.group, stream: world.stream)
      func reason(_ change: (inout ScreenRecorder.Options) -> Void) -> String {
        var options = options(world)
        change(&options)
        do { try recorder.startCapture(options) { _ in } } catch { return "\(error)" }
        return ""
      }
      #expect(reason { $0.display = ":4711" }.contains("cannot connect"))
      #expect(reason { $0.window = .named("nobody") }.contains("“nobody”"))
      #expect(reason { $0.window = .id(0x7ffffff) }.contains("no window 0x7ffffff"))
      #expect(!recorder.isRecording)
    }
  }

  @Test func serverThatDiesEndsTheCaptureWithAnError() throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let recorder = ScreenRecorder(in: world.group, stream: world.stream)
      let frames = Frames()
      try recorder.startCapture(options(world)) { frames.add($0) }
      try frames.wait { _ in true }
      try world.screen.server.end(with: SIGKILL)
      #expect(throws: ScreenRecorderError.self) { try recorder.waitUntilEnded() }
      #expect(!recorder.isRecording)
    }
  }
}
