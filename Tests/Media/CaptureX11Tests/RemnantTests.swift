import Foundation
import FrameBus
import Platform
import TestSupport
import Testing

/// Pixels of protected windows at places where these no longer are, or never were.
@Suite struct RemnantTests {
  private static let cyan: UInt32 = 0x00FFFF
  private static let plain: UInt32 = 0x445566
  private static let background: UInt32 = 0x112233
  private static let pause = "paused: its source is changing"

  /// A painted screen under a compositor that a test commands.
  private struct ComposedScreen {
    let world: ScreenWorld
    let compositor: HostileClientTests.Client
    private let window: ShownWindow?

    /// - Parameter window: where a protected window lies that is older than the compositor.
    init(window place: String? = nil) throws {
      world = try ScreenWorld()
      try world.paint("#112233")
      let screen = world.screen
      window = try place.map { try ShownWindow("one", $0, isMarked: true, on: screen) }
      compositor = try HostileClientTests.Client(["compositor"], on: screen)
      try compositor.waitUntilReady()
    }

    func capture() throws -> RunningProgram {
      try world.capture("--no-cursor", "--protect", "marked", "--fps", "60")
    }

    /// The windows exist until then.
    func end(_ capture: RunningProgram) throws { try capture.end(with: SIGTERM) }
  }

  /// The server draws nothing in a window without a background, whose program may hang.
  @Test(arguments: [["--backend", "socket"], ["--isolate"]])
  func areaThatAWindowLeftStaysBlackUntilItIsDrawn(backend: [String]) throws {
    try withWatchdog {
      let world = try ScreenWorld()
      try world.paint("#112233")
      let lazy = try HostileClientTests.Client(["lazy"], on: world.screen)
      try lazy.waitUntilReady()
      let window = try ShownWindow("secret", "60x40+20+30", on: world.screen)
      let capture = try world.capture(
        ["--no-cursor", "--protect", "secret", "--fps", "60"] + backend, window: nil)
      let watch = try FrameWatch(world, for: [0, Self.background, Self.plain, 0x223344])
      try watch.wait { $0.count(of: 0) == 60 * 40 }
      // Faster than frames follow one another.
      for step in 0..<8 { try window.perform("move \(20 + step * 16) \(30 + step * 12)") }
      try window.perform("move 230 30")
      // Beside that window the server draws its background again.
      try watch.wait { $0.pixel(180, 130) == Self.background }
      try world.paint("#223344")
      try watch.wait { $0.pixel(180, 130) == 0x223344 }
      try watch.wait { $0.pixel(40, 50) == 0 && $0.pixel(150, 130) == 0 }
      try lazy.perform("draw")
      try watch.wait { $0.pixel(40, 50) == Self.plain && $0.count(of: 0) == 60 * 40 }
      try watch.end()
      lazy.program.process.end(with: SIGKILL)
      try capture.end(with: SIGTERM)
    }
  }

  /// The server fills it with what the screen shows.
  @Test(arguments: [["--backend", "socket"], ["--isolate"]])
  func newPictureOfAWindowShowsNoProtectedOne(backend: [String]) throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let lazy = try HostileClientTests.Client(["lazy"], on: world.screen)
      try lazy.waitUntilReady()
      let secret = try ShownWindow(
        "one", "60x40+20+30", color: "00ffff", isMarked: true, on: world.screen)
      let capture = try world.capture(
        source: "window:\(lazy.windowID)",
        ["--no-cursor", "--protect", "marked", "--fps", "60"] + backend)
      var subscriber = try world.subscriber(start: .oldest)
      func expect(_ isReached: (TakenFrame) -> Bool) throws {
        _ = try subscriber.take {
          #expect($0.count(of: Self.cyan) == 0)
          return isReached($0)
        }
      }
      // It covered a part of the window when that got a picture of its own.
      try expect { $0.count(of: 0) == 60 * 40 && $0.count(of: Self.plain) == 160 * 200 - 2400 }
      try lazy.perform("draw")
      try expect { $0.count(of: Self.plain) == 160 * 200 }
      try lazy.perform("resize 200 150")
      try expect { $0.width == 200 && $0.pixel(50, 50) == 0 }
      try lazy.perform("draw")
      try expect { $0.count(of: Self.plain) == 200 * 150 }
      // It lies below now, and moves before the window is drawn.
      try lazy.perform("hide")
      try lazy.perform("raise")
      try lazy.perform("show")
      try lazy.perform("place 5 5")
      try expect { $0.pixel(50, 50) == 0 }
      try lazy.perform("draw")
      try expect { $0.count(of: Self.plain) == 200 * 150 }
      _ = secret
      try capture.end(with: SIGTERM)
    }
  }

  /// An animation may have begun before the capture.
  @Test func captureOfAProtectedWindowBeginsWithAPauseUnderACompositor() throws {
    try withWatchdog {
      let screen = try ComposedScreen(window: "60x40+200+30")
      let capture = try screen.capture()
      var subscriber = try screen.world.subscriber(start: .oldest)
      let first = try subscriber.take { _ in true }
      #expect(first.count(of: 0) == 60 * 40)
      #expect(capture.errors.text.contains(Self.pause))
      try screen.end(capture)
    }
  }

  @Test func captureWithoutProtectedWindowsIsNotPausedUnderACompositor() throws {
    try withWatchdog {
      let screen = try ComposedScreen()
      let capture = try screen.capture()
      var subscriber = try screen.world.subscriber(start: .oldest)
      for color: UInt32 in [0x223344, 0x334455] {
        for command in ["roots", "desktop 1", "desktop 2"] {
          try screen.compositor.perform(command)
        }
        try screen.world.paint("#" + String(color, radix: 16))
        _ = try subscriber.take { $0.pixel(319, 239) == color }
      }
      #expect(!capture.errors.text.contains(Self.pause))
      try screen.end(capture)
    }
  }

  /// Any client can write them again and again.
  @Test func propertiesThatKeepTheirValuesPauseNothing() throws {
    try withWatchdog {
      let screen = try ComposedScreen(window: "60x40+200+30")
      let capture = try screen.capture()
      var subscriber = try screen.world.subscriber()
      _ = try subscriber.take { $0.pixel(319, 239) == 0x112233 }
      for color: UInt32 in [0x223344, 0x334455, 0x445566] {
        for command in ["roots", "desktop 0"] { try screen.compositor.perform(command) }
        try screen.world.paint("#" + String(color, radix: 16))
        _ = try subscriber.take { $0.pixel(319, 239) == color }
      }
      #expect(capture.errors.text.components(separatedBy: Self.pause).count == 2)
      try screen.end(capture)
    }
  }

  /// The window below is one whose program hangs.
  @Test func noProgramIsAskedToDrawUnderACompositor() throws {
    try withWatchdog {
      let screen = try ComposedScreen()
      let window = try ShownWindow("one", "60x40+20+30", isMarked: true, on: screen.world.screen)
      let capture = try screen.capture()
      var subscriber = try screen.world.subscriber()
      _ = try subscriber.take { $0.pixel(40, 50) == 0 }
      try window.perform("move 200 30")
      try screen.compositor.perform("exposures")
      let exposures = screen.compositor.lastLine
      _ = try subscriber.take { $0.pixel(40, 50) == Self.plain && $0.pixel(220, 50) == 0 }
      try screen.world.paint("#223344")
      _ = try subscriber.take { $0.pixel(319, 239) == 0x223344 }
      try screen.compositor.perform("exposures")
      #expect(screen.compositor.lastLine == exposures)
      try screen.end(capture)
    }
  }

  /// Among three thousand windows is one of which the server has drawn the background.
  @Test func areaAmongManyWindowsIsShownAgain() throws {
    try withWatchdog {
      let world = try ScreenWorld()
      try world.paint("#112233")
      let below = try ShownWindow("below", "160x200+0+0", color: "445566", on: world.screen)
      let crowd = try HostileClientTests.Client(["crowd"], on: world.screen)
      try crowd.waitUntilReady()
      let window = try ShownWindow("one", "60x40+20+30", isMarked: true, on: world.screen)
      let capture = try world.capture("--no-cursor", "--protect", "marked", "--fps", "60")
      var subscriber = try world.subscriber()
      _ = try subscriber.take { $0.pixel(40, 50) == 0 }
      try window.perform("move -30 -20")
      try window.perform("move 200 30")
      _ = try subscriber.take { $0.pixel(40, 50) == Self.plain && $0.count(of: 0) == 60 * 40 }
      try crowd.resume()
      _ = below
      try capture.end(with: SIGTERM)
    }
  }

  @Test func changeOfTheDesktopPausesTheStreamUnderACompositor() throws {
    try withWatchdog {
      let world = try ScreenWorld()
      try world.paint("#112233")
      let window = try ShownWindow("one", "60x40+200+30", isMarked: true, on: world.screen)
      let capture = try world.capture("--no-cursor", "--protect", "marked", "--fps", "60")
      var subscriber = try world.subscriber()
      _ = try subscriber.take { $0.count(of: 0) == 60 * 40 }
      let compositor = try HostileClientTests.Client(["compositor"], on: world.screen)
      try compositor.waitUntilReady()
      try compositor.perform("desktop 1")
      try capture.waitForErrors(Self.pause)
      try world.paint("#223344")
      _ = try subscriber.take { $0.pixel(319, 239) == 0x223344 }
      _ = window
      try capture.end(with: SIGTERM)
    }
  }
}
