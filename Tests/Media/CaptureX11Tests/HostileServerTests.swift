import AppGroup
import Foundation
import FrameBus
import Platform
import TestSupport
import Testing

/// X servers that answer otherwise than the protocol says (Tests/Tools/fake_x_server.py).
@Suite struct HostileServerTests {
  /// A server that tells one lie, and a capture of it.
  private final class Scene {
    let root: TemporaryRoot
    let group: AppGroup
    let server: RunningProgram
    let capture: RunningProgram

    init(_ lie: String, _ options: [String] = [], window: String? = nil) throws {
      root = try TemporaryRoot()
      group = try AppGroup.create(GroupID("org.example.test"), root: root.path)
      server = try RunningProgram("/usr/bin/python3", [tool("fake_x_server.py"), lie])
      try server.waitForOutput("\n")
      let display = server.output.text.trimmingCharacters(in: .whitespacesAndNewlines)
      capture = try RunningProgram(
        "framebus-capture",
        [
          window.map { "window:\($0)" } ?? "screen:\(display)", "--root", root.path, "--group",
          "org.example.test", "--backend", "socket", "--protect", "marked",
        ] + options, environment: ["DISPLAY": display])
    }

    func subscriber() throws -> Subscriber {
      try Subscriber(
        StreamName("screen"), in: group, waitingForPublisherUntil: .after(.seconds(30)))
    }

    /// Watches until the stream ends.
    func end() throws -> FinishReason {
      var subscriber = try subscriber()
      return try subscriber.end()
    }

    func waitUntilServerIsSilent() throws { try server.waitForOutput("lies") }

    /// The one line of a capture that failed.
    func failure() throws -> String {
      let result = try capture.finish()
      #expect(result.status == .exited(1), "\(result.errors)")
      let lines = result.errors.split(separator: "\n").filter { $0.hasPrefix("error:") }
      #expect(lines.count == 1, "\(result.errors)")
      return String(lines.last ?? "")
    }

    deinit { server.process.end(with: SIGKILL) }
  }

  @Test func anHonestServerIsCaptured() throws {
    try withWatchdog {
      let scene = try Scene("none", ["--frames", "1"])
      #expect(try scene.end() == .ended)
      #expect(try scene.capture.finish().status == .exited(0))
    }
  }

  @Test(arguments: [
    ("gone", "cannot connect"), ("refuses", "cannot connect"),
    ("screens-none", "no screen"),
    ("screens-many", "malformed"),
    ("visuals-none", "unusual order"), ("visuals-many", "malformed"),
    ("depths-none", "unusual order"), ("depths-many", "malformed"),
    ("formats-many", "malformed"), ("vendor-long", "malformed"), ("ids-none", "malformed"),
    ("requests-none", "malformed"), ("screen-huge", "not possible"), ("size-0", "not possible"),
    ("outputs", "malformed"), ("output-name", "malformed"), ("errors", "refused"),
  ])
  func aLieAtTheBeginningIsAnError(lie: String, message: String) throws {
    try withWatchdog {
      let line = try Scene(lie).failure()
      #expect(line.contains(message), "\(line)")
    }
  }

  @Test(arguments: [
    ("children", "malformed"), ("children-endless", "too many windows"),
    ("property", "malformed"), ("property-format", "malformed"),
    ("image-short", "malformed"), ("cursor", "malformed"), ("errors-late", "refused"),
    ("half", "went away"),
  ])
  func aLieWhileFramesAreWantedEndsTheCapture(lie: String, message: String) throws {
    try withWatchdog {
      let scene = try Scene(lie)
      #expect(try scene.end() == .failed)
      let line = try scene.failure()
      #expect(line.contains(message), "\(line)")
    }
  }

  @Test(arguments: [
    ("parents", "too many windows"), ("attributes-short", "malformed"),
  ])
  func aLieAboutAWindowIsAnError(lie: String, message: String) throws {
    try withWatchdog {
      let scene = try Scene(lie, window: "0x300000")
      _ = try? scene.end()
      let line = try scene.failure()
      #expect(line.contains(message), "\(line)")
    }
  }

  /// Grabs of it would lie beyond what a coordinate can name: it is never shown.
  @Test(arguments: ["border", "events-255"])
  func impossibleNumbersTrapNothing(lie: String) throws {
    try withWatchdog {
      // Long enough to connect on a busy machine.
      let scene = try Scene(
        lie, ["--duration", "8"], window: lie == "border" ? "0x100000" : nil)
      #expect(try scene.end() == .ended)
      #expect(try scene.capture.finish().status == .exited(0))
    }
  }

  @Test(arguments: ["silent", "setup-long", "stalls", "mute", "flood"])
  func aServerThatNeverAnswersIsGivenUp(lie: String) throws {
    try withWatchdog {
      let line = try Scene(lie).failure()
      #expect(line.contains("does not answer"), "\(line)")
    }
  }

  /// From the first byte on, within an answer, and with other news instead of the answer.
  @Test(arguments: ["silent", "mute", "stalls", "flood", "mute-late", "stalls-late", "flood-late"])
  func aCaptureThatWaitsForItsServerStopsWhenAsked(lie: String) throws {
    try withWatchdog {
      let scene = try Scene(lie)
      if lie.hasSuffix("-late") {
        var subscriber = try scene.subscriber()
        _ = try subscriber.take { _ in true }
        try scene.waitUntilServerIsSilent()
        scene.capture.process.send(signal: SIGTERM)
        #expect(try subscriber.end() == .stopped)
      } else {
        try scene.waitUntilServerIsSilent()
        scene.capture.process.send(signal: SIGTERM)
      }
      #expect(try scene.capture.finish(within: .seconds(30)).status == .exited(0))
    }
  }

  @Test func eventsInsteadOfAnAnswerTakeNoMemory() throws {
    try withWatchdog {
      let scene = try Scene("flood")
      let facts = ProcessFacts(scene.capture.processID)
      // A million of them.
      try waitUntil("the server has sent much") {
        scene.server.output.text.count { $0 == "." } >= 8
      }
      #expect(try facts.residentBytes < 100 << 20)
      try scene.capture.end(with: SIGTERM)
    }
  }

  @Test(arguments: ["mute-late", "stalls-late", "flood-late"])
  func aDurationEndsAlsoWhileTheServerIsSilent(lie: String) throws {
    try withWatchdog {
      // Long enough to connect on a busy machine.
      let scene = try Scene(lie, ["--duration", "8"])
      #expect(try scene.end() == .ended)
      #expect(try scene.capture.finish().status == .exited(0))
    }
  }

  /// As after `kill -STOP`, or while a client has grabbed the server.
  @Test func stoppedServerContinues() throws {
    try withWatchdog {
      let world = try ScreenWorld()
      try world.paint("#112233")
      let capture = try world.capture()
      var subscriber = try world.subscriber()
      _ = try subscriber.take { $0.pixel(10, 10) == 0x112233 }
      world.screen.server.process.send(signal: SIGSTOP)
      #expect(try subscriber.take(within: .seconds(1)) == nil)
      world.screen.server.process.send(signal: SIGCONT)
      try world.paint("#445566")
      _ = try subscriber.take { $0.pixel(10, 10) == 0x445566 }
      world.screen.server.process.send(signal: SIGSTOP)
      defer { world.screen.server.process.send(signal: SIGCONT) }
      #expect(try capture.end(with: SIGTERM).status == .exited(0))
      #expect(try subscriber.end() == .stopped)
    }
  }
}
