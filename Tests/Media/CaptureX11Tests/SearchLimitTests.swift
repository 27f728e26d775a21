#if Media
  import Foundation
  import FrameBus
  import Platform
  import TestSupport
  import Testing

  @testable import CaptureX11

  /// While no other client can go on, a limited number of windows is looked at.
  @Suite struct SearchLimitTests {
    @Test func searchThatReachesItsLimitIsContinuedByTheNext() throws {
      try withWatchdog {
        let screen = try VirtualScreen(width: 320, height: 240)
        var options = ScreenOptions()
        options.display = screen.display
        options.protection = ProtectionRule()
        let root = try RootScreen(options, until: .never)
        var protection = try ProtectedWindows(
          on: CaptureTarget(nil, on: root), options.protection)
        var current: [Bool] = []
        // A search from the beginning has no limit, so it is not begun.
        for limit in [1000, Int.max] {
          _ = try protection.refresh(upTo: limit)
          current.append(protection.isCurrent)
        }
        // Ten of them are marked, and all of the others are their menus.
        let client = try HostileClientTests.Client(["many", "1000"], on: screen)
        try client.waitUntilReady()
        // All events have come before the answer to this.
        _ = try root.connection.atom("WM_STATE")
        for event in root.connection.takeEvents() { protection.note(event) }
        for limit in [400, 400, 195, 10, 1000] {
          _ = try protection.refresh(upTo: limit)
          current.append(protection.isCurrent)
        }
        #expect(current == [false, true, false, false, false, false, true])
        #expect(protection.areas.count >= 10)
        try client.resume()
      }
    }

    /// A program has more protected windows than are looked at while no other client can go on.
    @Test(arguments: [false, true])
    func movingWindowAmongManyProtectedOnesHoldsUpNoFrame(isManaged: Bool) throws {
      try withWatchdog {
        let world = try ScreenWorld()
        let desktop = isManaged ? try Desktop(on: world.screen) : nil
        try world.paint("#112233")
        let capture = try world.capture("--no-cursor", "--protect", "marked", "--fps", "60")
        var subscriber = try world.subscriber()
        let herd = try HostileClientTests.Client(["herd", "600"], on: world.screen)
        try herd.waitUntilReady()
        for color: UInt32 in [0x223344, 0x334455] {
          try world.paint("#" + String(color, radix: 16))
          _ = try subscriber.take { $0.pixel(319, 239) == color }
        }
        herd.program.process.end(with: SIGKILL)
        _ = desktop
        try capture.end(with: SIGTERM)
      }
    }

    @Test(arguments: [false, true])
    func streamThatCannotGoOnIsPausedWithAReason(isManaged: Bool) throws {
      try withWatchdog {
        let world = try ScreenWorld()
        let desktop = isManaged ? try Desktop(on: world.screen) : nil
        try world.paint("#112233")
        let capture = try world.capture("--no-cursor", "--protect", "marked", "--fps", "60")
        var subscriber = try world.subscriber()
        _ = try subscriber.take { $0.pixel(319, 239) == 0x112233 }
        let herd = try HostileClientTests.Client(["herd", "600", "all"], on: world.screen)
        try herd.waitUntilReady()
        try capture.waitForErrors("paused: its source is changing")
        herd.program.process.end(with: SIGKILL)
        try world.paint("#223344")
        _ = try subscriber.take { $0.pixel(319, 239) == 0x223344 }
        _ = desktop
        try capture.end(with: SIGTERM)
      }
    }
  }
#endif
