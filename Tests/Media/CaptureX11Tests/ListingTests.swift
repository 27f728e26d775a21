import Foundation
import Platform
import TestSupport
import Testing

/// `framebus windows` and `framebus screens`: what can be captured, as users and programs see it.
@Suite struct ListingTests {
  /// What is read of `framebus windows --json`.
  struct Window: Decodable, Equatable {
    let id: String
    let source: String
    let title: String
    let program: String
    let pid: Int32?
    let process: String?
    let width: Int
    let height: Int
    let isShown: Bool
    let isFront: Bool
  }

  struct Screen: Decodable, Equatable {
    let source: String
    let size: String?
    let width: Int
    let height: Int
    let isPrimary: Bool
  }

  static func windows(on screen: VirtualScreen, _ choice: String...) throws -> [Window] {
    try list("windows", choice, on: screen)
  }

  private static func list<Record: Decodable>(
    _ verb: String, _ choice: [String] = [], on screen: VirtualScreen
  ) throws -> [Record] {
    let result = try run(
      "framebus", [verb, "--json"] + choice, environment: screen.environment)
    guard result.status.isSuccess else { throw HarnessError("framebus \(verb): \(result.errors)") }
    return try JSONDecoder().decode([Record].self, from: Data(result.output.utf8))
  }

  @Test func managedWindowsAreListedTheActiveOneFirst() throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let desktop = try Desktop(on: world.screen)
      let one = try ShownWindow("one", "60x40+20+30", on: world.screen)
      let two = try ShownWindow("two", "80x50+100+90", on: world.screen)
      try one.setTitle("Grüße, 世界")
      for front in [one, two, one] {
        try desktop.bringToFront(front)
        try waitUntil("\(front.id) is listed first") {
          try Self.windows(on: world.screen).first?.id == front.id
        }
      }
      let listed = try Self.windows(on: world.screen)
      #expect(listed.map(\.id) == [one.id, two.id])
      #expect(listed.map(\.isFront) == [true, false])
      #expect(listed.map(\.program) == ["one", "two"])
      #expect(listed.map(\.title) == ["Grüße, 世界", ""])
      #expect(listed.map { [$0.width, $0.height] } == [[60, 40], [80, 50]])
      try two.perform("iconify")
      try waitUntil("the minimised window is listed as hidden") {
        try Self.windows(on: world.screen).first { $0.id == two.id }?.isShown == false
      }
    }
  }

  @Test func withoutWindowManagerShownWindowsAreListedTheHighestFirst() throws {
    try withWatchdog {
      let world = try ScreenWorld()
      #expect(try Self.windows(on: world.screen).isEmpty)
      let one = try ShownWindow("one", "60x40+20+30", on: world.screen)
      let two = try ShownWindow("two", "80x50+100+90", on: world.screen)
      _ = try world.makeInputWindow()
      #expect(try Self.windows(on: world.screen).map(\.id) == [two.id, one.id])
      #expect(try Self.windows(on: world.screen).first?.isFront == true)
      try two.perform("hide")
      #expect(try Self.windows(on: world.screen).map(\.id) == [one.id])
    }
  }

  /// A process that a window names is what the window claims, on this machine.
  @Test func processOfAWindowIsShownWithTheKernelsNameForIt() throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let window = try ShownWindow("one", "60x40+20+30", on: world.screen)
      #expect(try Self.windows(on: world.screen).first?.pid == nil)
      try window.perform("process 0")
      let listed = try #require(try Self.windows(on: world.screen).first)
      #expect(listed.pid == window.processID)
      #expect(listed.process?.hasPrefix("python3") == true)
      try window.perform("machine 656c73657768657265")
      #expect(try Self.windows(on: world.screen).first?.pid == nil)
    }
  }

  @Test(arguments: [
    ("_NET_WM_NAME", "ff41", ""), ("WM_NAME", "4772fcdf65", "Grüße"),
    ("_NET_WM_NAME", "41001b5b", "A"), ("_NET_WM_NAME", "411b5b324a0a42", "A\u{1b}[2J\nB"),
    ("_NET_WM_NAME", "41" + String(repeating: "c3bc", count: 3000), nil),
  ])
  func titleOfAnyBytesIsText(property: String, bytes: String, title: String?) throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let window = try ShownWindow("one", "60x40+20+30", on: world.screen)
      try window.perform("property \(property) \(bytes)")
      let listed = try #require(try Self.windows(on: world.screen).first)
      #expect(listed.title == title ?? "A" + String(repeating: "ü", count: 511))
      // Nothing of it controls a terminal, or makes a line of its own.
      let shown = try run("framebus", ["windows"], environment: world.screen.environment).output
      #expect(!shown.contains("\u{1b}") && shown.split(separator: "\n").count == 2)
      #expect(shown.contains(window.id))
    }
  }

  @Test func screensAreListedWithTheirSources() throws {
    let screen = try VirtualScreen(width: 320, height: 240, options: ["-screen", "1", "64x48x24"])
    let number = screen.display.dropFirst()
    let screens: [Screen] = try Self.list("screens", on: screen)
    #expect(screens.map(\.source) == ["screen:\(number).0", "screen:\(number).1"])
    #expect(screens.map { [$0.width, $0.height] } == [[320, 240], [64, 48]])
    #expect(screens.map(\.size) == [nil, nil])
    let single = try VirtualScreen(width: 320, height: 240)
    let listed: [Screen] = try Self.list("screens", on: single)
    #expect(listed.map(\.source) == ["screen:\(single.display.dropFirst())"])
  }

  /// Monitors of one screen, which RANDR lets anybody define.
  @Test func monitorIsListedWithTheSizeThatCapturesItAlone() throws {
    let screen = try VirtualScreen(width: 320, height: 240)
    for (name, place, connector) in [
      ("left", "200/50x240/60+0+0", "screen"), ("right", "120/30x240/60+200+0", "none"),
    ] {
      try output(
        of: "xrandr", ["--display", screen.display, "--setmonitor", name, place, connector])
    }
    let listed: [Screen] = try Self.list("screens", on: screen)
    #expect(Set(listed.map(\.size)) == ["200x240+0+0", "120x240+200+0"])
  }

  @Test func listingWithoutADisplaySaysWhatToDo() throws {
    let result = try run("framebus", ["windows"], environment: ["DISPLAY": nil])
    #expect(result.status == .exited(1))
    #expect(result.errors.contains("DISPLAY is not set"))
  }
}

/// `framebus capture window:TITLE`.
@Suite struct NamedWindowTests {
  @Test(arguments: ["budget 2027", "Budget", "red", "RED"])
  func titleOrProgramNamesTheWindow(name: String) throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let window = try ShownWindow("red", "60x40+20+30", on: world.screen)
      try window.setTitle("Budget 2027")
      let other = try ShownWindow("blue", "80x50+100+90", color: "0000ff", on: world.screen)
      try other.setTitle("Mail")
      let capture = try world.capture(source: "window:\(name)", "--no-cursor")
      var subscriber = try world.subscriber(start: .oldest)
      #expect(try subscriber.take()?.magentaCount == 60 * 40)
      #expect(try capture.end(with: SIGTERM).status == .exited(0))
    }
  }

  @Test func nameOfSeveralWindowsIsRefusedWithTheirIDs() throws {
    let world = try ScreenWorld()
    let one = try ShownWindow("term", "60x40+20+30", on: world.screen)
    let two = try ShownWindow("term", "60x40+100+30", on: world.screen)
    try one.setTitle("editor\u{7}")
    let result = try world.capture(source: "window:term").finish()
    #expect(result.status == .exited(1))
    for id in [one.id, two.id] { #expect(result.errors.contains("window:\(id)")) }
    #expect(result.errors.contains("2 windows have") && !result.errors.contains("\u{7}"))
    // A title that is equal counts more than titles that contain it.
    try two.setTitle("editor")
    #expect(try ListingTests.windows(on: world.screen, "Editor").map(\.id) == [two.id])
  }

  @Test func nameOfNoWindowIsRefused() throws {
    let world = try ScreenWorld()
    let result = try world.capture(source: "window:nobody").finish()
    #expect(result.status == .exited(1))
    #expect(result.errors.contains("“nobody”") && result.errors.contains("`framebus windows "))
  }
}

/// `framebus capture window:pick`: the user clicks on the window.
@Suite struct WindowPickTests {
  private func pick(on screen: VirtualScreen) throws -> RunningProgram {
    let pick = try RunningProgram(
      "framebus", ["windows", "pick", "--json"], environment: screen.environment)
    try pick.waitForErrors("click on the window")
    return pick
  }

  private func picked(_ pick: RunningProgram) throws -> [String] {
    let result = try pick.finish()
    guard result.status.isSuccess else { throw HarnessError(result.errors) }
    return try JSONDecoder()
      .decode([ListingTests.Window].self, from: Data(result.output.utf8)).map(\.id)
  }

  @Test func clickedWindowIsCaptured() throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let window = try ShownWindow("one", "60x40+20+30", on: world.screen)
      let capture = try world.capture(source: "window:pick", "--no-cursor")
      try capture.waitForErrors("click on the window")
      try world.click(x: 40, y: 50)
      var subscriber = try world.subscriber(start: .oldest)
      #expect(try subscriber.take()?.magentaCount == 60 * 40)
      #expect(try capture.end(with: SIGTERM).status == .exited(0))
      withExtendedLifetime(window) {}
    }
  }

  /// Its frame belongs to the window manager; the program's window lies in it.
  @Test func clickOnAFramePicksTheWindowInIt() throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let desktop = try Desktop(on: world.screen)
      let window = try ShownWindow("one", "60x40+20+60", on: world.screen)
      let other = try ShownWindow("two", "60x40+200+60", on: world.screen)
      try desktop.bringToFront(window)
      let frame = try world.frame(of: window)
      try #require(frame.y < frame.clientY, "openbox gives it a title bar")
      for y in [frame.clientY + 20, frame.y + 5] {
        let pick = try pick(on: world.screen)
        try world.click(x: frame.clientX + 20, y: y)
        #expect(try picked(pick) == [window.id])
      }
      withExtendedLifetime(other) {}
    }
  }

  @Test func escapeAndRightClickCancel() throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let window = try ShownWindow("one", "60x40+20+30", on: world.screen)
      for cancel in [{ try world.press("Escape") }, { try world.click(x: 40, y: 50, button: 3) }] {
        let pick = try pick(on: world.screen)
        // Neither another key nor the wheel decides.
        try world.press("a")
        try world.click(x: 40, y: 50, button: 4)
        try cancel()
        let result = try pick.finish()
        #expect(result.status == .exited(1) && result.output == "")
        #expect(result.errors.contains("error: no window was chosen"))
      }
      withExtendedLifetime(window) {}
    }
  }

  @Test func clickBesideAllWindowsIsAnError() throws {
    let world = try ScreenWorld()
    let pick = try pick(on: world.screen)
    try world.click(x: 300, y: 200)
    let result = try pick.finish()
    #expect(result.status == .exited(1))
    #expect(result.errors.contains("there is no window where you clicked"))
  }

  @Test func pointerOfAnotherProgramIsNotTaken() throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let script = """
        import sys
        from Xlib import X, display
        d = display.Display("\(world.screen.display)")
        root = d.screen().root
        root.grab_pointer(0, 0, X.GrabModeAsync, X.GrabModeAsync, 0, 0, X.CurrentTime)
        d.sync()
        print("taken", flush=True)
        sys.stdin.read()
        """
      let input = try OneWayPipe()
      let taker = try RunningProgram(
        "/usr/bin/python3", ["-c", script], input: .descriptor(input.readEnd.number))
      try taker.waitForOutput("taken")
      let result = try run(
        "framebus", ["windows", "pick"], environment: world.screen.environment)
      #expect(result.status == .exited(1))
      #expect(result.errors.contains("keeps the pointer or the keyboard"), "\(result.errors)")
    }
  }
}
