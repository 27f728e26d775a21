#if Media
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
        // Ten of them are marked, and all may be their menus.
        let client = try HostileClientTests.Client(["many", "1000"], on: screen)
        try client.waitUntilReady()
        // All events have come before the answer to this.
        _ = try root.connection.atom("WM_STATE")
        for event in root.connection.takeEvents() { protection.note(event) }
        for limit in [400, 400, 150, 60, 130, 1000] {
          _ = try protection.refresh(upTo: limit)
          current.append(protection.isCurrent)
        }
        #expect(current == [false, true, false, false, false, false, false, true])
        #expect(protection.areas.count == 600)
        try client.resume()
      }
    }
  }
#endif
