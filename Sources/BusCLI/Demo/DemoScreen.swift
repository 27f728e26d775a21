import Capture
import CommandLineSupport
import Platform

/// The screen that a demo records: the user's own, or a virtual one with moving windows on it.
struct DemoScreen {
  /// As `framebus capture` takes it, such as `screen::0`.
  let source: String
  /// The socket of the Wayland compositor that has it; nil for an X11 screen.
  var compositor: String?
  /// The text shown to the user.
  let description: String
  /// Stops what shows it; nil if it was there before, and shows more than the demo's own windows.
  private let end: (() -> Void)?
  private var windows: [StartedProgram] = []

  var isVirtual: Bool { end != nil }

  private init(_ source: String, _ description: String, end: (() -> Void)? = nil) {
    self.source = source
    self.description = description
    self.end = end
  }

  /// The user's screen, if an X11 grab can show it.
  static func own() -> DemoScreen? {
    guard let display = environmentValue("DISPLAY"), display.hasPrefix(":"),
      environmentValue("WAYLAND_DISPLAY") == nil,
      environmentValue("XDG_SESSION_TYPE") != "wayland"
    else { return nil }
    let number = display.dropFirst().prefix { $0.isNumber }
    let sockets = try? Directory(path: "/tmp/.X11-unix")
    guard (try? sockets?.status(of: "X\(number)")) != nil else { return nil }
    return DemoScreen("screen:\(display)", "your screen \(display)")
  }

  /// The user's Wayland session, if its compositor listens.
  static func ownWayland() -> DemoScreen? {
    guard let path = WaylandSocket.path(), (try? connectStream(to: path)) != nil else { return nil }
    var screen = DemoScreen("wayland", "the first output of your Wayland session, \(path)")
    screen.compositor = path
    return screen
  }

  /// A virtual screen on a display number that the server picks.
  static func virtual(stop: StopSignal) throws -> DemoScreen {
    let virtual = try VirtualDisplay(width: 1280, height: 720, stop: stop)
    let display = virtual.name
    let windows = try showWindows(on: display)
    var screen = DemoScreen(
      "screen:\(display)",
      "a virtual screen \(display), 1280 by 720, with \(windows.count) windows"
    ) { virtual.server.stop() }
    screen.windows = windows
    return screen
  }

  /// A Wayland compositor of its own, with terminals side by side.
  static func virtualWayland(stop: StopSignal) throws -> DemoScreen {
    guard programInPath(named: "sway") != nil, let terminal = programInPath(named: "foot") else {
      throw StartedProgramError.missing("sway or foot", package: "sway foot")
    }
    let virtual = try VirtualCompositor(
      width: 1280, height: 720,
      commands: ["output * bg #191970 solid_color", "gaps inner 20", "gaps outer 20"], stop: stop)
    var screen = DemoScreen(
      "wayland", "a virtual Wayland compositor (sway), 1280 by 720, with \(scripts.count) windows"
    ) { virtual.close() }
    screen.compositor = virtual.socket
    do {
      screen.windows = try scripts.map { script in
        try StartedProgram(
          "foot", terminal, ["-o", "colors.background=101018", "sh", "-c", script],
          environment: virtual.environment)
      }
    } catch {
      screen.close()
      throw error
    }
    return screen
  }

  /// What the terminals show: coloured bars of changing length, and the time.
  private static let scripts = [
    #"""
    i=0; while :; do i=$((i + 1)); w=$((i % 90)); [ $w -gt 45 ] && w=$((90 - w)); \
    printf '\033[48;5;%dm%*s\033[0m\n' $((16 + i % 216)) $((w + 1)) ''; sleep 0.03; done
    """#,
    #"while :; do printf '\033[2J\033[1;33m\033[3;4H%s' "$(date +%T)"; sleep 0.2; done"#,
  ]

  /// The windows do not overlap: without a window manager, a later one would hide an earlier one.
  private static let programs: [(name: String, arguments: [String])] = [
    (
      "ico",
      ["-colors", "gold", "-sleep", "0.02", "-lw", "3", "-bg", "black"]
        + ["-size", "220x220", "-geometry", "480x480+50+120"]
    ),
    (
      "ico",
      ["-colors", "white", "-sleep", "0.02", "-lw", "2", "-bg", "gray15", "-obj", "cube"]
        + ["-geometry", "300x220+580+380"]
    ),
    ("xeyes", ["-geometry", "300x180+580+120"]),
    ("xlogo", ["-bg", "ivory", "-fg", "slateblue", "-geometry", "200x200+980+330"]),
    ("xclock", ["-analog", "-update", "1", "-bg", "ivory", "-geometry", "200x200+980+80"]),
    (
      "xclock",
      ["-digital", "-update", "1", "-bg", "black", "-fg", "gold", "-strftime", "%H:%M:%S"]
        + ["-face", "DejaVu Sans-30", "-geometry", "300x90+930+580"]
    ),
  ]

  /// Shows windows of standard X11 programs. Programs that are not installed are skipped, except
  /// `ico`, which provides motion.
  private static func showWindows(on display: String) throws -> [StartedProgram] {
    try colourBackground(of: display)
    let windows = try Self.programs.compactMap { (name, arguments) -> StartedProgram? in
      guard let path = programInPath(named: name) else { return nil }
      return try StartedProgram(name, path, arguments, environment: ["DISPLAY": display])
    }
    guard windows.contains(where: { $0.name == "ico" }) else {
      throw StartedProgramError.missing("ico", package: "x11-apps")
    }
    return windows
  }

  private static func colourBackground(of display: String) throws {
    guard let path = programInPath(named: "xsetroot") else { return }
    let program = try StartedProgram(
      "xsetroot", path, ["-solid", "midnightblue"], environment: ["DISPLAY": display])
    _ = program.process.wait(until: .after(.seconds(10)))
  }

  /// Stops the windows, then the server, so that no window loses its connection.
  func close() {
    for window in windows { window.stop() }
    end?()
  }
}
