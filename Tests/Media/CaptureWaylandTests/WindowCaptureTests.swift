import Foundation
import FrameBus
import Platform
import TestSupport
import Testing

/// Single windows, of a compositor that lists them (ext-foreign-toplevel-list) and captures them
/// (ext-image-copy-capture).
@Suite struct WindowCaptureTests {
  private static let window = "wayland-window:fake-1"

  @Test func windowIsCapturedAndItsChangesFollowed() throws {
    try withFake(FakeSession.sessions) { fake in
      let capture = try fake.capture(source: Self.window)
      var subscriber = try fake.subscriber()
      let first = try subscriber.take { $0[5, 5] == 0x204060 }
      #expect((first.width, first.height) == (64, 48) && first.damage.isFull)
      for (number, size) in [(1, (80, 60)), (2, (300, 200)), (3, (16, 16))] {
        try fake.send("width=\(size.0)", "height=\(size.1)", "color=\(number)")
        try subscriber.take { ($0.width, $0.height) == size && $0[5, 5] == UInt32(number) }
      }
      #expect(try listStreams(in: fake.group).first?.content == .window)
      try capture.end(with: SIGTERM)
    }
  }

  @Test func closedWindowEndsTheStream() throws {
    try withFake(FakeSession.sessions) { fake in
      let capture = try fake.capture(source: Self.window)
      var subscriber = try fake.subscriber()
      try subscriber.take { $0[5, 5] == 0x204060 }
      try fake.send("closed=1")
      #expect(try subscriber.ending() == .ended)
      #expect(try capture.finish().status == .exited(0), "\(capture.transcript)")
    }
  }

  /// Of a minimised window, a compositor delivers nothing, which does not end the stream. A
  /// subscriber that needs a frame meanwhile hears why there is none.
  @Test func hiddenWindowPausesTheStreamUntilItIsShown() throws {
    try withFake(FakeSession.sessions) { fake in
      let capture = try fake.capture(source: Self.window)
      let events = StreamEvents()
      var subscriber = try fake.subscriber { events.add($0) }
      try subscriber.take { $0[5, 5] == 0x204060 }
      try fake.send("hidden=1", "color=0x112233")
      #expect(try subscriber.take(within: .seconds(1)) == nil)
      #expect(!events.all.contains(.paused(.unavailable)))
      // Shown in time: nobody noticed.
      try fake.send("hidden=0", "color=0x223344")
      try subscriber.take { $0[5, 5] == 0x223344 }
      #expect(!events.all.contains(.paused(.unavailable)), "\(events.all)")
      try fake.send("hidden=1", "color=0x334455")
      var second = try fake.subscriber()
      try waitUntil("the pause is told: \(capture.transcript)") {
        _ = try subscriber.take(within: .milliseconds(20))
        return events.all.contains(.paused(.unavailable))
      }
      try capture.waitForErrors("cannot capture the window now: it may be hidden")
      try fake.send("hidden=0", "color=0x445566")
      try second.take { $0[5, 5] == 0x445566 }
      try subscriber.take { $0[5, 5] == 0x445566 }
      #expect(events.all.contains(.resumed))
      try capture.end(with: SIGTERM)
    }
  }

  @Test func windowOfAKilledCompositorEndsInAnError() throws {
    try withFake(FakeSession.sessions) { fake in
      let capture = try fake.capture(source: Self.window)
      var subscriber = try fake.subscriber()
      try subscriber.take { $0[5, 5] == 0x204060 }
      _ = try fake.fake.end(with: SIGKILL)
      #expect(try subscriber.ending() == .failed)
      let result = try capture.finish()
      #expect(result.status == .exited(1))
      #expect(result.errors.contains("cannot connect to the Wayland compositor"))
    }
  }

  @Test func windowsAreListedWithoutControlCharacters() throws {
    try withFake(FakeSession.sessions) { fake in
      let table = try run("framebus", ["windows"], environment: fake.environment)
      #expect(table.output.contains(Self.window), "\(table.output)\(table.errors)")
      #expect(table.output.contains("org.example.fake") && !table.output.contains("\u{1b}"))
      let list = try run("framebus", ["windows", "--json"], environment: fake.environment)
      #expect(list.output.contains("\"source\" : \"\(Self.window)\""), "\(list.output)")
    }
  }

  @Test(arguments: [
    ("wayland-window:none", FakeSession.sessions, "has no window “none”"),
    (window, FakeSession.screencopy, "lacks the protocol ext_foreign_toplevel_list_v1"),
    ("wayland-window", FakeSession.sessions, "needs a window that `framebus windows"),
  ])
  func errorsSayWhatToDo(source: String, protocols: String, reason: String) throws {
    let result = try FakeSession([protocols]).captured(source: source)
    #expect(!result.status.isSuccess && result.errors.contains(reason), "\(result.errors)")
  }

  /// A session delivers a frame without a change only at its beginning.
  @Test func newSubscriberBeginsANewSessionAndLeavingEndsIt() throws {
    try withFake(FakeSession.sessions) { fake in
      let capture = try fake.capture()
      do {
        var first = try fake.subscriber()
        try first.take { $0[5, 5] == 0x204060 }
        #expect(try first.take(within: .milliseconds(300)) == nil)
        var second = try fake.subscriber()
        try second.take { $0[5, 5] == 0x204060 }
      }
      try waitUntil("both sessions have ended: \(fake.fake.output.text)") {
        let lines = fake.fake.output.text.split(separator: "\n")
        let begun = lines.count { $0 == "session" }
        return begun >= 2 && lines.count { $0 == "rested" } == begun
      }
      try capture.end(with: SIGTERM)
    }
  }

  @Test(arguments: FakeSession.protocols)
  func nothingIsCapturedWithoutSubscribers(protocols: String) throws {
    try withFake(protocols) { fake in
      let capture = try fake.capture("--json")
      do {
        var subscriber = try fake.subscriber()
        try subscriber.take { $0[5, 5] == 0x204060 }
      }
      // The publisher has noticed once it reports this.
      try capture.waitForErrors("waiting for a subscriber")
      func copies() -> Int { fake.fake.output.text.split(separator: "\n").count { $0 == "copy" } }
      let before = copies()
      for shade in 1...9 { try fake.send("color=\(shade)") }
      var subscriber = try fake.subscriber()
      try subscriber.take { $0[5, 5] == 9 }
      #expect(copies() - before <= 2)
      try capture.end(with: SIGTERM)
    }
  }

  @Test(arguments: FakeSession.protocols, [true, false])
  func cursorIsInTheFramesIfItIsWanted(protocols: String, isWanted: Bool) throws {
    try withFake(protocols, "pointer=1") { fake in
      let capture = try fake.capture(isWanted ? "--cursor" : "--no-cursor")
      var subscriber = try fake.subscriber()
      let frame = try subscriber.take { $0[5, 5] == 0x204060 }
      #expect(frame[1, 0] == (isWanted ? 0x00FF00 : 0x204060))
      try capture.end(with: SIGTERM)
    }
  }
}
