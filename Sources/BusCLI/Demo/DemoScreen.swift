import CommandLineSupport
import Platform

/// The screen that a demo records: the user's own, or a virtual one with moving windows on it.
struct DemoScreen {
  /// Such as `:0`.
  let display: String
  /// The text shown to the user.
  let description: String
  /// Whether it shows nothing but the demo's own windows.
  var isVirtual: Bool { server != nil }
  private let server: StartedProgram?
  private let windows: [StartedProgram]

  /// The user's screen, if an X11 grab can show it.
  static func own() -> DemoScreen? {
    guard let display = environmentValue("DISPLAY"), display.hasPrefix(":"),
      environmentValue("WAYLAND_DISPLAY") == nil,
      environmentValue("XDG_SESSION_TYPE") != "wayland"
    else { return nil }
    let number = display.dropFirst().prefix { $0.isNumber }
    let sockets = try? Directory(path: "/tmp/.X11-unix")
    guard (try? sockets?.status(of: "X\(number)")) != nil else { return nil }
    return DemoScreen(
      display: display, description: "your screen \(display)", server: nil, windows: [])
  }

  /// A virtual screen on a display number that the server picks.
  static func virtual(stop: StopSignal) throws -> DemoScreen {
    let virtual = try VirtualDisplay(width: 1280, height: 720, stop: stop)
    let display = virtual.name
    let windows = try showWindows(on: display)
    return DemoScreen(
      display: display,
      description: "a virtual screen \(display), 1280 by 720, with \(windows.count) windows",
      server: virtual.server, windows: windows)
  }

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
    server?.stop()
  }
}
