import Foundation
import FrameBus
import Platform
import TestSupport
import Testing

/// The X server's screen saver, during a capture.
@Suite struct SaverTests {
  @Test func screenWithoutAMonitorIsCapturedWhileItIsBlank() throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let capture = try world.capture("--no-cursor")
      let events = StreamEvents()
      var subscriber = try world.subscriber { events.add($0) }
      _ = try subscriber.take { _ in true }
      try world.saver("activate")
      try waitUntil("the saver is on") { try world.saver("state") == "on" }
      for color: UInt32 in [0x223344, 0x334455] {
        try world.paint("#" + String(color, radix: 16))
        _ = try subscriber.take { $0.pixel(5, 5) == color }
      }
      #expect(events.all == [])
      try capture.end(with: SIGTERM)
    }
  }

  /// A saver that shows something, such as a lock.
  @Test(arguments: ["pause", "inhibit", "capture"])
  func saverThatHidesTheScreenPausesUnlessItIsToBeCaptured(policy: String) throws {
    try withWatchdog {
      let world = try ScreenWorld()
      try world.paint("#112233")
      let capture = try world.capture("--no-cursor", "--while-saver", policy)
      let events = StreamEvents()
      var subscriber = try world.subscriber { events.add($0) }
      _ = try subscriber.take { $0.pixel(5, 5) == 0x112233 }
      let saver = try ScreenSaver(on: world.screen)
      if policy == "capture" {
        _ = try subscriber.take { $0.magentaCount == 320 * 240 }
        #expect(events.all == [])
      } else {
        try events.wait(for: .paused(.unavailable)) { _ = try subscriber.take(within: $0) }
        try world.saver("reset")
        try events.wait(for: .resumed) {
          if let frame = try subscriber.take(within: $0) { #expect(frame.magentaCount == 0) }
        }
      }
      _ = saver
      try capture.end(with: SIGTERM)
    }
  }

  /// The clock is another screen's saver, which starts later.
  @Test func inhibitedSaverStartsOnlyAfterTheCaptureDied() throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let clock = try ScreenWorld()
      let capture = try world.capture("--no-cursor", "--while-saver", "inhibit")
      do {
        var subscriber = try world.subscriber()
        _ = try subscriber.take { _ in true }
        for screen in [world, clock] {
          try output(of: "xset", ["-display", screen.screen.display, "s", "1", "1"])
        }
        try waitUntil("the other screen's saver is on") { try clock.saver("state") == "on" }
        #expect(try world.saver("state") == "off")
      }
      capture.process.end(with: SIGKILL)
      try waitUntil("the saver is on") { try world.saver("state") == "on" }
    }
  }

  @Test func saverStartsWhileNobodySubscribes() throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let capture = try world.capture("--no-cursor", "--while-saver", "inhibit")
      do {
        var subscriber = try world.subscriber()
        _ = try subscriber.take { _ in true }
      }
      try output(of: "xset", ["-display", world.screen.display, "s", "1", "1"])
      try waitUntil("the saver is on") { try world.saver("state") == "on" }
      try capture.end(with: SIGTERM)
    }
  }

  /// Between two processes of an extension, say.
  @Test func saverOfABroadcastStaysOffWhileNobodySubscribes() throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let clock = try ScreenWorld()
      let capture = try world.capture(
        "--no-cursor", "--while-saver", "inhibit", "--session=0123456789abcdef")
      do {
        var subscriber = try world.subscriber()
        _ = try subscriber.take { _ in true }
      }
      for screen in [world, clock] {
        try output(of: "xset", ["-display", screen.screen.display, "s", "1", "1"])
      }
      try waitUntil("the other screen's saver is on") { try clock.saver("state") == "on" }
      #expect(try world.saver("state") == "off")
      try capture.end(with: SIGTERM)
      try waitUntil("the saver is on") { try world.saver("state") == "on" }
    }
  }

  @Test func unknownPolicyIsRefused() throws {
    let result = try run("framebus-capture", ["screen:0", "--while-saver", "never"])
    #expect(result.status == .exited(2))
    #expect(result.errors.contains("use pause, capture or inhibit"))
  }
}

/// A saver program, which shows a window of its own while the saver is on.
final class ScreenSaver {
  private let program: RunningProgram

  init(on screen: VirtualScreen) throws {
    program = try screen.show("/usr/bin/python3", [tool("screen_saver.py"), "show"])
    try program.waitForOutput("on")
  }
}

extension ScreenWorld {
  /// Turns the saver on or off, or asks for its state.
  @discardableResult
  func saver(_ verb: String) throws -> String {
    try output(
      of: "/usr/bin/python3", [tool("screen_saver.py"), verb, screen.display])
  }
}
