import Capture
import Foundation
import FrameBus
import NotifyCenter
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
    options.capture.drawsCursor = false
    return options
  }

  /// The state of `framebus.captured`, which no other process keeps.
  private func captured(in world: ScreenWorld) throws -> UInt64 {
    try NotifyCenter(world.group, role: .host).state(of: NotificationName("framebus.captured"))
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
      try waitUntil("that is announced") { try captured(in: world) == 1 }
      try frames.wait { $0.width == 320 && $0.magentaCount == 60 * 40 }
      try window.perform("resize 90 70")
      try frames.wait { $0.magentaCount == 90 * 70 }
      #expect(throws: ScreenRecorderError.self) {
        try recorder.startCapture(options(world)) { _ in }
      }
      recorder.stopCapture()
      try recorder.waitUntilEnded()
      #expect(!recorder.isRecording)
      #expect(try captured(in: world) == 0)
      try waitUntil("the end is reported") { frames.endCount == 1 }
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

  @Test(arguments: [false, true])
  func markedAndNamedWindowsAreBlackWithoutAnOption(isManaged: Bool) throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let desktop = isManaged ? try Desktop(on: world.screen) : nil
      let marked = try ShownWindow("marked", "60x40+20+30", on: world.screen)
      try marked.perform("mark")
      let named = try ShownWindow("named", "60x40+120+30", on: world.screen)
      let open = try ShownWindow("open", "50x40+220+30", on: world.screen)
      let set = try ShownWindow("set", "40x40+120+130", on: world.screen)
      try world.protectBySetting(#"["set"]"#)
      let recorder = ScreenRecorder(in: world.group, stream: world.stream)
      var options = options(world)
      options.capture.protection = .on([try WindowRule("named")])
      let frames = Frames()
      try recorder.startCapture(options) { frames.add($0) }
      try frames.wait { $0.magentaCount == 50 * 40 }
      // The setting is followed.
      try world.protectBySetting(#"["open"]"#)
      try frames.wait { $0.magentaCount == 40 * 40 }
      recorder.stopCapture()
      try recorder.waitUntilEnded()
      try world.protectBySetting(#"["0x2a0000g"]"#)
      #expect(throws: ScreenRecorderError.self) { try recorder.startCapture(options) { _ in } }
      withExtendedLifetime((desktop, named, open, set)) {}
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

  /// Nobody clicks. The start returns, and the end is reported, although there was no frame.
  @Test func startThatWaitsForAClickCanBeStopped() throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let recorder = ScreenRecorder(in: world.group, stream: world.stream)
      let frames = Frames()
      let failure = Mutex<String?>(nil)
      let hasReturned = try StopSignal()
      var options = options(world)
      options.window = .pick
      try startThread(named: "pick") { [options] in
        do {
          try recorder.startCapture(
            options,
            onEnd: { error in
              failure.withLock { $0 = error.map { "\($0)" } }
              frames.end()
            }
          ) { frames.add($0) }
        } catch { failure.withLock { $0 = "\(error)" } }
        hasReturned.raise()
      }
      try waitUntil("the user can click") { try world.isPointerTaken() }
      recorder.stopCapture()
      try waitUntil("the start has returned") { hasReturned.isRaised }
      try recorder.waitUntilEnded()
      try waitUntil("the end is reported") { frames.endCount == 1 }
      #expect(failure.withLock { $0 } == nil)
      #expect(!recorder.isRecording && frames.count == 0)
      #expect(try !world.isPointerTaken())
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
      #expect(reason { $0.capture.silenceLimit = 3 }.contains("silence: no effect"))
      #expect(reason { $0.capture.protection = .off }.contains("always hides protected windows"))
      #expect(
        reason { ($0.capture.isIsolated, $0.capture.backend) = (true, .socket) }
          .contains("isolate: the socket backend"))
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

extension ScreenWorld {
  /// Whether a client has the pointer for itself.
  fileprivate func isPointerTaken() throws -> Bool {
    let script = """
      from Xlib import X, display
      d = display.Display("\(screen.display)")
      taken = d.screen().root.grab_pointer(
        0, 0, X.GrabModeAsync, X.GrabModeAsync, 0, 0, X.CurrentTime) == X.AlreadyGrabbed
      d.ungrab_pointer(X.CurrentTime)
      d.sync()
      print(taken, end="")
      """
    return try output(of: "/usr/bin/python3", ["-c", script]) == "True"
  }
}
