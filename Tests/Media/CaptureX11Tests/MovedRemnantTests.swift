import Foundation
import FrameBus
import Platform
import TestSupport
import Testing

/// Windows that move with pixels that a protected window has left in them.
@Suite struct MovedRemnantTests {
  private static let plain: UInt32 = 0x445566
  private static let background: UInt32 = 0x112233

  /// The server copies the window's pixels to its new place, and counts that as drawing.
  @Test(arguments: [["place 5 60"], ["place 5 60", "place 100 20"], ["raise", "place 0 40"]])
  func remnantStaysBlackWhereItsWindowIsMovedTo(commands: [String]) throws {
    try withWatchdog {
      let world = try ScreenWorld()
      try world.paint("#112233")
      let lazy = try HostileClientTests.Client(["lazy"], on: world.screen)
      try lazy.waitUntilReady()
      let secret = try ShownWindow("secret", "60x40+20+30", on: world.screen)
      let capture = try world.capture(
        ["--no-cursor", "--protect", "secret", "--fps", "60"], window: nil)
      let watch = try FrameWatch(world, for: [0, Self.background, Self.plain, 0x223344])
      try watch.wait { $0.count(of: 0) == 60 * 40 }
      try secret.perform("move 250 190")
      for command in commands { try lazy.perform(command) }
      let numbers = commands.joined(separator: " ").split(separator: " ").compactMap { Int($0) }
      let (x, y) = (numbers[numbers.count - 2] + 25, numbers[numbers.count - 1] + 35)
      // Frames from after the copy: only they have this background.
      try world.paint("#223344")
      try watch.wait { $0.pixel(315, 5) == 0x223344 && $0.pixel(x, y) == 0 }
      try lazy.perform("draw")
      try watch.wait { $0.pixel(x, y) == Self.plain && $0.count(of: 0) == 60 * 40 }
      try watch.end()
      lazy.program.process.end(with: SIGKILL)
      try capture.end(with: SIGTERM)
    }
  }

  /// It is not the whole stream that waits while another window moves without rest.
  @Test func streamGoesOnWhileARemnantIsMoved() throws {
    try withWatchdog {
      let world = try ScreenWorld()
      try world.paint("#112233")
      let lazy = try HostileClientTests.Client(["lazy"], on: world.screen)
      try lazy.waitUntilReady()
      let secret = try ShownWindow("secret", "60x40+20+30", on: world.screen)
      let capture = try world.capture(
        ["--no-cursor", "--protect", "secret", "--fps", "60"], window: nil)
      let unrest = try HostileClientTests.Client(["unrest", lazy.windowID], on: world.screen)
      try unrest.waitUntilReady()
      let watch = try FrameWatch(world, for: [0, Self.background, Self.plain, 0x223344])
      try watch.wait { $0.count(of: 0) >= 60 * 40 }
      try secret.perform("move 250 190")
      try world.paint("#223344")
      try watch.wait { $0.pixel(315, 5) == 0x223344 && $0.pixel(280, 210) == 0 }
      try watch.end()
      unrest.program.process.end(with: SIGKILL)
      lazy.program.process.end(with: SIGKILL)
      try capture.end(with: SIGTERM)
    }
  }
}
