import Foundation
import FrameBus
import Platform
import TestSupport
import Testing

/// Compositors that go away, do not answer, or cannot be captured.
@Suite(.enabled(if: SwaySession.isAvailable, "needs sway: scripts/setup --test"))
struct CompositorLossTests {
  @Test func killedCompositorPausesTheStreamUntilItIsBack() throws {
    try withWorld { world in
      let capture = try world.capture()
      let events = StreamEvents()
      var subscriber = try world.subscriber { events.add($0) }
      try subscriber.take { $0[10, 10] == 0x204060 }
      var session = world.session
      for round in 1...2 {
        try session.sway.end(with: SIGKILL)
        try waitUntil("the pause is told, only \(events.all)") {
          _ = try subscriber.take(within: .milliseconds(20))
          return events.all.filter { $0 == .paused(.unavailable) }.count == round
        }
        session = try session.restarted()
        try session.paint("#11223\(round)")
        try subscriber.take { $0[10, 10] == 0x112230 + UInt32(round) }
        #expect(events.all.filter { $0 == .resumed }.count == round)
      }
      #expect(capture.errors.text.contains("ended the connection"), "\(capture.transcript)")
      try capture.end(with: SIGTERM)
    }
  }

  /// A compositor that is stopped delivers nothing, and harms nobody.
  @Test func stoppedCompositorEndsNoCapture() throws {
    try withWorld { world in
      let capture = try world.capture()
      var subscriber = try world.subscriber()
      try subscriber.take { $0[10, 10] == 0x204060 }
      world.session.sway.process.send(signal: SIGSTOP)
      #expect(try capture.end(with: SIGTERM).status.isSuccess)
      world.session.sway.process.send(signal: SIGCONT)
    }
  }

  @Test func errorsSayWhatToDo() throws {
    try withWorld { world in try checkErrors(in: world) }
  }

  private func checkErrors(in world: WaylandWorld) throws {
    #expect(try world.failure(source: "wayland:DP-7").contains("it has HEADLESS-1"))
    #expect(
      try world.failure("--size", "10x10+4000+0").contains("outside the picture of 320x240"))
    let gone = try world.failure(environment: ["WAYLAND_DISPLAY": "/nonexistent/wayland-0"])
    #expect(gone.contains("cannot connect to the Wayland compositor at /nonexistent/wayland-0"))
    #expect(try world.failure(environment: ["WAYLAND_DISPLAY": nil]).contains("is not set"))
    #expect(try world.failure("--protect", "Firefox").contains("wayland"))
    #expect(try world.failure("--isolate").contains("no effect on the source wayland"))
  }

  /// A compositor that is started at the path of another, which then ends.
  @Test func replacedSocketLeadsToTheNewCompositor() throws {
    try withFake { fake in
      let capture = try fake.capture()
      var subscriber = try fake.subscriber()
      try subscriber.take { $0[5, 5] == 0x204060 }
      let other = try RunningProgram(
        "FakeCompositor", [fake.socket, "color=0x112233", "width=200", "height=100"])
      try other.waitForOutput("listens")
      try fake.send("color=0x445566")
      try subscriber.take { $0[5, 5] == 0x445566 }
      _ = try fake.fake.end(with: SIGKILL)
      try subscriber.take { $0[5, 5] == 0x112233 && $0.width == 200 }
      try capture.end(with: SIGTERM)
      other.process.end(with: SIGTERM)
    }
  }

  /// weston has no protocol for captures.
  @Test func compositorWithoutTheProtocolIsNamed() throws {
    try withFake { fake in
      let folder = try TemporaryRoot()
      let weston = try RunningProgram(
        "weston", ["--backend=headless-backend.so", "--socket=other", "--idle-time=0"],
        environment: ["XDG_RUNTIME_DIR": folder.path])
      defer { weston.process.end(with: SIGTERM) }
      let socket = folder.file("other")
      try waitUntil("weston listens") { FileManager.default.fileExists(atPath: socket) }
      let result = try fake.captured(environment: ["WAYLAND_DISPLAY": socket])
      let reason = "lacks the protocol zwlr_screencopy_manager_v1"
      #expect(
        result.errors.contains(reason) && result.errors.contains("portal"), "\(result.errors)")
    }
  }

  /// A user who names no display gets the screen of the session.
  @Test func screenOfAWaylandSessionIsItsOutput() throws {
    try withWorld { world in
      let capture = try world.capture(source: "screen")
      var subscriber = try world.subscriber()
      try subscriber.take { $0[10, 10] == 0x204060 }
      try capture.end(with: SIGTERM)
      let refusal = try world.failure("--protect", "Firefox", source: "screen")
      #expect(refusal.contains("does not tell where they are"), "\(refusal)")
      #expect(try world.failure("--force", source: "screen").contains("DISPLAY is not set"))
    }
  }
}
