import Foundation
import FrameBus
import FrontApplication
import Platform
import TestSupport
import Testing

@Suite struct ProtectionTests {
  @Test(arguments: [["--backend", "shm"], ["--backend", "socket"]], [false, true])
  func protectedWindowIsBlackAtEveryPosition(backend: [String], isManaged: Bool) throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let desktop = isManaged ? try Desktop(on: world.screen) : nil
      try world.paint("#112233")
      let window = try ShownWindow("secret", "60x40+20+30", on: world.screen)
      let capture = try world.capture(
        "--no-cursor", "--protect", "secret", backend[0], backend[1], "--fps", "60")
      let watch = try FrameWatch(world, for: [0, 0x112233])
      try watch.wait { $0.count(of: 0) >= 60 * 40 }
      for step in 0..<20 {
        try window.perform("move \(step * 12) \(step * 9)")
        try window.perform(step % 2 == 0 ? "resize 90 70" : "resize 30 20")
      }
      try window.perform("hide")
      try watch.wait { $0.count(of: 0) == 0 }
      try window.perform("move 200 100")
      try window.perform("show")
      try watch.wait { $0.count(of: 0) >= 30 * 20 }
      try watch.end()
      _ = desktop
      try capture.end(with: SIGTERM)
    }
  }

  @Test(arguments: [false, true])
  func windowPropertyProtectsAndUnprotects(isManaged: Bool) throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let desktop = isManaged ? try Desktop(on: world.screen) : nil
      try world.paint("#112233")
      let window = try ShownWindow("plain", "60x40+20+30", on: world.screen)
      let capture = try world.capture("--no-cursor", "--protect", "marked")
      var subscriber = try world.subscriber()
      _ = try subscriber.take { $0.magentaCount == 60 * 40 }
      try window.perform("mark")
      _ = try subscriber.take {
        $0.shows(only: [0, 0x112233]) && $0.count(of: 0) >= 60 * 40
      }
      try window.perform("unmark")
      _ = try subscriber.take { $0.magentaCount == 60 * 40 }
      _ = desktop
      try capture.end(with: SIGTERM)
    }
  }

  /// The name of the front window is watched on the same connection.
  @Test func windowThatLeavesTheFrontStaysProtected() throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let desktop = try Desktop(on: world.screen)
      // Too small to cover the other one.
      let small = try ShownWindow("small", "30x20+200+30", color: "112233", on: world.screen)
      let window = try ShownWindow("large", "160x120+20+30", on: world.screen)
      let capture = try world.capture("--no-cursor", "--protect", "marked")
      var subscriber = try world.subscriber()
      let front = try FrontApplication(of: world.stream, in: world.group)
      for (next, name) in [(window, "large"), (small, "small")] {
        try desktop.bringToFront(next)
        try waitUntil("\(name) is in front") { front.current?.text == name }
      }
      _ = try subscriber.take { $0.magentaCount > 0 }
      try window.perform("mark")
      _ = try subscriber.take { $0.magentaCount == 0 }
      try capture.end(with: SIGTERM)
    }
  }

  @Test(arguments: [false, true])
  func windowIsProtectedByIDAndOthersAreVisible(isManaged: Bool) throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let desktop = isManaged ? try Desktop(on: world.screen) : nil
      try world.paint("#112233")
      let secret = try ShownWindow("one", "60x40+20+30", on: world.screen)
      let other = try ShownWindow("two", "60x40+150+30", on: world.screen)
      let digits = String(secret.id.dropFirst(2))
      let id = isManaged ? "\(UInt32(digits, radix: 16) ?? 0)" : "0X" + digits.uppercased()
      let capture = try world.capture("--no-cursor", "--protect", id)
      var subscriber = try world.subscriber()
      let frame = try subscriber.take { $0.magentaCount > 0 }
      #expect(frame.magentaCount == 60 * 40)
      #expect(frame.count(of: 0) >= 60 * 40)
      try other.perform("name one")
      _ = desktop
      try capture.end(with: SIGTERM)
    }
  }

  /// Programs write STRING in Latin-1 or UTF-8, and COMPOUND_TEXT.
  @Test(arguments: [
    ("4772fcdf65", false), ("4772c3bcc39f65", true),
    ("47721b2d41fcdf1b2842651b2547c3bc1b2540", true),
  ])
  func programIsProtectedInEachEncodingOfItsName(bytes: String, isManaged: Bool) throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let desktop = isManaged ? try Desktop(on: world.screen) : nil
      try world.paint("#112233")
      let window = try ShownWindow("hex:6100\(bytes)00", "60x40+20+30", on: world.screen)
      let capture = try world.capture(
        "--no-cursor", "--protect", "Grüße", "--protect", "Grüßeü")
      var subscriber = try world.subscriber(start: .oldest)
      let frame = try #require(try subscriber.take())
      #expect(frame.magentaCount == 0 && frame.count(of: 0) >= 60 * 40)
      withExtendedLifetime((window, desktop)) {}
      try capture.end(with: SIGTERM)
    }
  }

  /// Subscribers can read the pool at any time, even while the server writes into it.
  @Test(arguments: [false, true])
  func protectedPixelsNeverReachThePool(isManaged: Bool) throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let desktop = isManaged ? try Desktop(on: world.screen) : nil
      try world.paint("#112233")
      let window = try ShownWindow("secret", "160x120+20+30", on: world.screen)
      let capture = try world.capture("--no-cursor", "--protect", "secret", "--fps", "60")
      var subscriber = try world.subscriber()
      _ = try subscriber.take { $0.count(of: 0) >= 160 * 120 }
      let facts = ProcessFacts(capture.processID)
      let isPool = { (line: String) in line.contains("framebus-pool") }
      // The background is there, which shows that this reads the right memory.
      #expect(try facts.memoryHolds(Data([0x33, 0x22, 0x11]), where: isPool))
      for step in 0..<10 {
        try window.perform("move \(20 + step) 30")
        #expect(try !facts.memoryHolds(Data([0xFF, 0x00, 0xFF]), where: isPool))
      }
      _ = subscriber
      _ = desktop
      try capture.end(with: SIGTERM)
    }
  }

  @Test func orientationTravelsWithTheFrame() throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let capture = try world.capture("--orientation", "6")
      var subscriber = try world.subscriber()
      guard case .frame(let lease) = try subscriber.next(until: .after(.seconds(30))) else {
        throw HarnessError("no frame came")
      }
      #expect(lease.metadata.orientation == .right)
      try capture.end(with: SIGTERM)
    }
  }

  @Test(arguments: [["--protect", ""], ["--orientation", "0"], ["--orientation", "9"]])
  func wrongOptionsAreRefused(options: [String]) throws {
    let result = try RunningProgram(
      "framebus-capture", ["screen:0"] + options
    ).finish()
    #expect(result.status == .exited(2))
  }
}
