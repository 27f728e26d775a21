import Foundation
import FrameBus
import Platform
import TestSupport
import Testing

/// What belongs to a protected window: its frame, menus, tooltips and dialogs.
@Suite struct FrameProtectionTests {
  private static let background: UInt32 = 0x112233
  private static let plain: Set<UInt32> = [0, background]

  /// A window manager draws the frame, and moves it when a window is iconified.
  @Test(arguments: [["--backend", "shm"], ["--backend", "socket"]])
  func titleIsBlackWhileTheWindowMovesAndIsIconified(backend: [String]) throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let desktop = try Desktop(on: world.screen)
      try world.paint("#112233")
      let capture = try world.capture(
        ["--no-cursor", "--protect", "secret", "--fps", "60"] + backend, window: nil)
      let watch = try FrameWatch(world, for: Self.plain)
      try watch.wait { $0.shows(only: [Self.background]) }
      let window = try ShownWindow("secret", "60x40+20+30", on: world.screen)
      let withTitle = 60 * (40 + 15)
      try watch.wait { $0.count(of: 0) > withTitle }
      for step in 0..<20 {
        try window.perform("move \(step * 12) \(step * 8)")
        if step % 4 == 0 { try window.perform("resize \(60 + step) 40") }
      }
      try window.perform("iconify")
      try watch.wait { $0.count(of: 0) == 0 }
      try window.perform("show")
      try watch.wait { $0.count(of: 0) > withTitle }
      try window.close()
      try watch.wait { $0.count(of: 0) == 0 }
      try watch.end()
      _ = desktop
      try capture.end(with: SIGTERM)
    }
  }

  /// As of a window manager that draws the frame in a window that does not contain the program's.
  @Test func frameIsBlackWhereverTheWindowManagerSaysThatItIs() throws {
    try withWatchdog {
      let world = try ScreenWorld()
      try world.paint("#112233")
      let window = try ShownWindow("one", "60x40+20+30", isMarked: true, on: world.screen)
      let capture = try world.capture("--no-cursor", "--protect", "marked")
      var subscriber = try world.subscriber()
      _ = try subscriber.take { $0.count(of: 0) == 60 * 40 }
      try window.perform("extents 5 6 20 7")
      _ = try subscriber.take { frame in
        frame.count(of: 0) == (5 + 60 + 6) * (20 + 40 + 7) && frame.pixel(15, 10) == 0
          && frame.pixel(85, 76) == 0
      }
      try capture.end(with: SIGTERM)
    }
  }

  /// As of a window manager that does not say how wide its frame is, whatever another client calls
  /// that frame.
  @Test func frameThatContainsTheWindowIsBlackWithoutExtents() throws {
    try withWatchdog {
      let world = try ScreenWorld()
      try world.paint("#112233")
      let window = try ShownWindow("one", "60x40+20+30", isMarked: true, on: world.screen)
      let frame = try ShownWindow("frame", "90x70+200+100", color: "445566", on: world.screen)
      let other = try ShownWindow("two", "30x20+100+180", isMarked: true, on: world.screen)
      let capture = try world.capture("--no-cursor", "--protect", "marked")
      var subscriber = try world.subscriber()
      _ = try subscriber.take { $0.count(of: 0x445566) == 90 * 70 }
      try frame.perform("adopt \(window.id) 10 20")
      func isBlack(_ frame: TakenFrame) -> Bool {
        frame.count(of: 0x445566) == 0 && frame.pixel(200, 100) == 0 && frame.pixel(289, 169) == 0
      }
      _ = try subscriber.take(where: isBlack)
      let client = try HostileClientTests.Client(["hints"], on: world.screen)
      try client.waitUntilReady()
      // What was black once stays so for a second; this one's second begins later.
      try other.perform("hide")
      try world.paint("#223344")
      _ = try subscriber.take { $0.pixel(110, 190) == 0x223344 && isBlack($0) }
      try client.resume()
      try capture.end(with: SIGTERM)
    }
  }

  @Test(arguments: [false, true])
  func menusAndDialogsOfAProtectedWindowAreBlack(isManaged: Bool) throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let desktop = isManaged ? try Desktop(on: world.screen) : nil
      try world.paint("#112233")
      let capture = try world.capture("--no-cursor", "--protect", "marked", "--fps", "60")
      let watch = try FrameWatch(world, for: Self.plain)
      try watch.wait { $0.shows(only: [Self.background]) }
      let window = try ShownWindow("one", "60x40+20+30", isMarked: true, on: world.screen)
      for kind in ["menu", "dialog", "tool"] {
        try window.perform("\(kind) 00ffff 230 150")
        try watch.wait { $0.pixel(255, 180) == 0 }
        try window.perform("close")
        try watch.wait { $0.pixel(255, 180) == Self.background }
      }
      try watch.end()
      _ = desktop
      try capture.end(with: SIGTERM)
    }
  }

  /// A program may show them over another connection than its window: the leader tells.
  @Test(arguments: [false, true])
  func toolOfAnotherConnectionIsBlackIfItsLeaderIsThatOfAProtectedWindow(isManaged: Bool) throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let desktop = isManaged ? try Desktop(on: world.screen) : nil
      let window = try ShownWindow("one", "60x40+20+30", isMarked: true, on: world.screen)
      let other = try ShownWindow("two", "60x40+20+130", color: "445566", on: world.screen)
      try window.perform("leader \(other.id)")
      let capture = try world.capture("--no-cursor", "--protect", "marked", "--fps", "60")
      var subscriber = try world.subscriber()
      try other.perform("tool 00ffff 230 150")
      _ = try subscriber.take { frame in
        #expect(frame.magentaCount == 0 && frame.count(of: 0x00FFFF) == 0)
        return frame.pixel(255, 180) == 0 && frame.count(of: 0x445566) == 60 * 40
      }
      _ = desktop
      try capture.end(with: SIGTERM)
    }
  }

  /// They name another owner, call the window embedded, the menu a frame and the frame a root.
  @Test(arguments: [false, true])
  func windowsStayBlackWhateverAnotherClientWritesOfThem(isManaged: Bool) throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let desktop = isManaged ? try Desktop(on: world.screen) : nil
      try world.paint("#112233")
      let capture = try world.capture("--no-cursor", "--protect", "marked", "--fps", "60")
      let watch = try FrameWatch(world, for: Self.plain.union([0x223344]))
      try watch.wait { $0.shows(only: [Self.background]) }
      let window = try ShownWindow("one", "60x40+20+30", isMarked: true, on: world.screen)
      let other = try ShownWindow(
        "two", "30x20+100+180", color: "112233", isMarked: true, on: world.screen)
      // Window managers choose another place at first.
      try other.perform("move 100 180")
      try window.perform("menu 00ffff 230 150")
      try watch.wait { $0.pixel(255, 180) == 0 && $0.pixel(110, 190) == 0 }
      let client = try HostileClientTests.Client(["hints"], on: world.screen)
      try client.waitUntilReady()
      // What was black once stays so for a second; this one's second begins later.
      try other.perform("hide")
      try world.paint("#223344")
      try watch.wait { $0.pixel(110, 190) == 0x223344 && $0.pixel(255, 180) == 0 }
      try client.resume()
      try watch.end()
      _ = (window, desktop)
      try capture.end(with: SIGTERM)
    }
  }

  @Test(arguments: [false, true])
  func menusAndDialogsOfOtherWindowsAreVisible(isManaged: Bool) throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let desktop = isManaged ? try Desktop(on: world.screen) : nil
      let secret = try ShownWindow("one", "60x40+20+30", isMarked: true, on: world.screen)
      let other = try ShownWindow("two", "60x40+20+130", color: "445566", on: world.screen)
      let capture = try world.capture("--no-cursor", "--protect", "marked")
      var subscriber = try world.subscriber()
      try other.perform("menu 00ffff 100 10")
      try other.perform("dialog 00ff00 160 10")
      try other.perform("tool ffff00 220 10")
      _ = try subscriber.take { frame in
        #expect(frame.magentaCount == 0)
        return [0x00FFFF, 0x00FF00, 0xFFFF00].allSatisfy { frame.count(of: $0) == 50 * 40 }
      }
      _ = (desktop, secret)
      try capture.end(with: SIGTERM)
    }
  }

  /// A dialog has no mark of its own.
  @Test(arguments: [false, true])
  func dialogOfAProtectedWindowIsBlackWhenCapturedAlone(isManaged: Bool) throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let desktop = isManaged ? try Desktop(on: world.screen) : nil
      let window = try ShownWindow("one", "60x40+20+30", isMarked: true, on: world.screen)
      try window.perform("dialog 00ffff 100 100")
      let dialog = try ShownWindow("two", "60x40+20+130", color: "445566", on: world.screen)
      try dialog.perform("owner \(window.id)")
      let capture = try world.capture(
        ["--no-cursor", "--protect", "marked"], window: dialog)
      var subscriber = try world.subscriber(start: .oldest)
      #expect(try subscriber.take()?.count(of: 0) == 60 * 40)
      _ = desktop
      try capture.end(with: SIGTERM)
    }
  }

  /// A compositor shows windows where they no longer are, and their way to an icon.
  @Test func animationsOfACompositorAreNotSeen() throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let desktop = try Desktop(on: world.screen)
      try world.paint("#112233")
      let compositor = try Compositor(on: world.screen)
      let capture = try world.capture("--no-cursor", "--protect", "secret", "--fps", "60")
      // It paints the background itself, in grey.
      let colors = Self.plain.union([0x808080])
      let watch = try FrameWatch(world, for: colors)
      try watch.wait { $0.shows(only: colors.subtracting([0])) }
      let window = try ShownWindow("secret", "60x40+20+30", on: world.screen)
      try watch.wait { $0.count(of: 0) > 60 * 55 }
      try window.perform("move 200 100")
      try window.perform("iconify")
      try watch.wait { $0.count(of: 0) == 0 }
      try window.perform("show")
      try watch.wait { $0.count(of: 0) > 60 * 55 }
      try window.close()
      try watch.wait { $0.count(of: 0) == 0 }
      try watch.end()
      _ = (desktop, compositor)
      try capture.end(with: SIGTERM)
    }
  }
}
