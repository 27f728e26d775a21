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

  @Test func nothingIsShownWhileAnAnimationFromBeforeTheCaptureMayRun() throws {
    try withWatchdog {
      let world = try ScreenWorld()
      try world.paint("#112233")
      let compositor = try HostileClientTests.Client(["fade"], on: world.screen)
      try compositor.waitUntilReady()
      let capture = try world.capture("--no-cursor", "--protect", "marked", "--fps", "60")
      let events = StreamEvents()
      var subscriber = try world.subscriber(start: .oldest) { events.add($0) }
      var first: TakenFrame?
      var isFading = true
      while first == nil {
        first = try subscriber.take(within: .milliseconds(10))
        guard isFading, events.all.contains(.paused(.transition)) else { continue }
        isFading = false
        try compositor.resume()
      }
      #expect(first?.count(of: Self.cyan) == 0)
      try capture.end(with: SIGTERM)
    }
  }

  @Test func nothingIsShownWhileACompositorSlidesADesktop() throws {
    try withWatchdog {
      let world = try ScreenWorld()
      try world.paint("#112233")
      let window = try ShownWindow("one", "60x40+20+30", isMarked: true, on: world.screen)
      let compositor = try HostileClientTests.Client(["slide"], on: world.screen)
      try compositor.waitUntilReady()
      let capture = try world.capture("--no-cursor", "--protect", "marked", "--fps", "60")
      let watch = try FrameWatch(world, for: [0, Self.background, 0x223344])
      try watch.wait { $0.count(of: 0) == 60 * 40 }
      try compositor.resume()
      try compositor.program.waitForOutput("done")
      try world.paint("#223344")
      try watch.wait { $0.pixel(319, 239) == 0x223344 }
      try watch.end()
      _ = window
      try compositor.resume()
      try capture.end(with: SIGTERM)
    }
  }
}
