import Foundation
import Platform

/// A Wayland desktop for one test: compositor, PipeWire, WirePlumber and the desktop's own portal,
/// under `dbus-run-session` without a login session, by a user who exists for it. It has no
/// monitor, no graphics card and no devices, and shows numbered colours
/// (Tests/Tools/draw_colors.py).
package final class DesktopSession: Sendable {
  package enum Desktop: String, Sendable {
    case sway
    case gnome = "GNOME"

    fileprivate var programs: [String] {
      switch self {
      case .sway: ["sway", "/usr/libexec/xdg-desktop-portal-wlr"]
      case .gnome: ["mutter", "/usr/libexec/xdg-desktop-portal-gnome"]
      }
    }
  }

  /// What this machine lacks for it; nil if nothing is missing.
  package static func missing(for desktop: Desktop) -> String? {
    let shared = [
      "dbus-run-session", "pipewire", "wireplumber", "foot", "/usr/libexec/xdg-desktop-portal",
    ]
    if geteuid() == 0, !TestUser.canBeCreated { return "useradd" }
    return (shared + desktop.programs).first {
      programInPath(named: $0) == nil && !FileManager.default.isExecutableFile(atPath: $0)
    }
  }

  private let folder: TemporaryRoot
  private let programs: [RunningProgram]
  /// Nil if this process's user runs the desktop.
  package let user: TestUser?
  /// For programs of the session.
  package let environment: [String: String?]

  /// - Parameter size: of the only output, such as `320x240`.
  package init(_ desktop: Desktop, size: String = "320x240") throws {
    let folder = try TemporaryRoot(mode: 0o755)
    let user = geteuid() == 0 ? try TestUser() : nil
    try Self.configure(desktop, in: folder, size)
    let runtime = folder.file("run")
    try output(of: "mkdir", ["-m", "700", runtime])
    if let user { try output(of: "chown", ["-R", "\(user.uid):\(user.gid)", folder.path]) }
    var environment: [String: String?] = [
      "HOME": folder.path, "XDG_RUNTIME_DIR": runtime, "XDG_CONFIG_HOME": folder.file("config"),
      "XDG_DATA_HOME": folder.file("data"), "XDG_STATE_HOME": folder.file("state"),
      "XDG_CACHE_HOME": folder.file("cache"), "XDG_CURRENT_DESKTOP": desktop.rawValue,
      "XDG_SESSION_TYPE": "wayland", "WAYLAND_DISPLAY": "wayland-1", "GSETTINGS_BACKEND": "memory",
      "GIO_USE_VFS": "local", "SWAYSOCK": folder.file("run/control"), "DISPLAY": nil,
      "PIPEWIRE_RUNTIME_DIR": nil, "PIPEWIRE_REMOTE": nil, "PULSE_SERVER": nil,
    ]
    var programs: [RunningProgram] = []
    func start(
      _ name: String, _ arguments: [String] = [], _ changes: [String: String?] = [:]
    ) throws -> RunningProgram {
      let program = try Self.start(name, arguments, environment.merging(changes) { $1 }, user)
      programs.insert(program, at: 0)
      return program
    }
    // Programs that the bus starts on demand find the compositor by its environment.
    let bus = try start(
      "dbus-run-session", ["--", "sh", "-c", "echo $DBUS_SESSION_BUS_ADDRESS; exec sleep infinity"])
    try bus.waitForOutput("\n")
    environment["DBUS_SESSION_BUS_ADDRESS"] = String(bus.output.text.prefix { $0 != "\n" })
    func wait(for name: String, of program: RunningProgram) throws {
      try waitUntil("\(name) is there: \(program.transcript)") {
        FileManager.default.fileExists(atPath: folder.file("run/" + name))
      }
    }
    try wait(for: "pipewire-0", of: try start("pipewire"))
    _ = try start("wireplumber")
    switch desktop {
    case .sway:
      let sway = try start(
        "sway", ["--config", folder.file("sway")],
        [
          "WAYLAND_DISPLAY": nil, "WLR_BACKENDS": "headless", "WLR_RENDERER": "pixman",
          "WLR_LIBINPUT_NO_DEVICES": "1",
        ])
      try wait(for: "wayland-1", of: sway)
    case .gnome:
      let mutter = try start(
        "mutter",
        ["--headless", "--no-x11", "--wayland-display", "wayland-1", "--virtual-monitor", size])
      try wait(for: "wayland-1", of: mutter)
    }
    self.folder = folder
    self.user = user
    self.environment = environment
    if desktop == .sway {
      let backend = try start(
        "/usr/libexec/xdg-desktop-portal-wlr", [], ["LD_PRELOAD": try Self.shim(in: folder)])
      let name = "org.freedesktop.impl.portal.desktop.wlr"
      try waitUntil("the portal's backend is there: \(backend.transcript)") {
        try Self.start(
          "dbus-send",
          [
            "--session", "--print-reply", "--dest=org.freedesktop.DBus", "/",
            "org.freedesktop.DBus.GetNameOwner", "string:\(name)",
          ], environment, user
        ).finish().status.isSuccess
      }
    }
    self.programs = programs
  }

  private static func configure(
    _ desktop: Desktop, in folder: TemporaryRoot, _ size: String
  ) throws {
    // Without a login session, WirePlumber ends at once if it asks logind for Bluetooth's seat.
    let texts = [
      "config/wireplumber/bluetooth.lua.d/51-no-logind.lua": """
      bluez_monitor.enabled = false
      bluez_monitor.properties["with-logind"] = false

      """,
      "config/xdg-desktop-portal-wlr/config": """
      [screencast]
      output_name=HEADLESS-1
      max_fps=60
      chooser_type=none

      """,
      "sway": """
      output * mode --custom \(size)@60Hz
      default_border none

      """,
    ]
    for (name, text) in texts {
      let path = folder.file(name)
      try FileManager.default.createDirectory(
        atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
      try text.write(toFile: path, atomically: true, encoding: .utf8)
    }
    try output(of: "cp", [tool("draw_colors.py"), tool("click_places.py"), folder.path])
  }

  /// Tests/Tools/offer_dmabuf.c, compiled.
  private static func shim(in folder: TemporaryRoot) throws -> String {
    let library = folder.file("offer_dmabuf.so")
    try output(of: "cc", ["-shared", "-fPIC", "-o", library, tool("offer_dmabuf.c"), "-ldl"])
    return library
  }

  private static func start(
    _ name: String, _ arguments: [String], _ environment: [String: String?], _ user: TestUser?
  ) throws -> RunningProgram {
    guard let user else { return try RunningProgram(name, arguments, environment: environment) }
    return try user.start(name, arguments, environment: environment)
  }

  /// Starts a program of the session, such as `framebus-capture`.
  package func start(_ name: String, _ arguments: [String] = []) throws -> RunningProgram {
    try Self.start(name, arguments, environment, user)
  }

  /// Shows one colour after another in a window that covers the screen.
  package func showColors() throws -> RunningProgram {
    let client = try start(
      "foot",
      [
        "--fullscreen", "-o", "pad=0x0", "/usr/bin/python3", folder.file("draw_colors.py"),
        folder.file("run/colors"), "0.04",
      ])
    try waitUntil("colours are drawn: \(client.transcript)") { try !drawn().isEmpty }
    return client
  }

  /// Chooses the monitor in the dialog of GNOME's portal, if it is open on a screen of 640 × 480.
  package func agree() throws {
    try start("/usr/bin/python3", [folder.file("click_places.py"), "320,266", "533,113"]).finish()
  }

  /// When each colour was drawn, on the monotonic clock.
  package func drawn() throws -> [UInt32: UInt64] {
    let text = (try? String(contentsOfFile: folder.file("run/colors"), encoding: .utf8)) ?? ""
    var times: [UInt32: UInt64] = [:]
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ")
      if words.count == 2, let color = UInt32(words[0]) { times[color] = UInt64(words[1]) }
    }
    return times
  }

  /// A directory of its user.
  package var home: String { folder.path }

  /// What the programs of the session have written.
  package var transcript: String { programs.map(\.transcript).joined(separator: "\n") }

  deinit {
    for program in programs { program.process.end(with: SIGTERM) }
    // Programs that the bus has started.
    let mark = Data("XDG_RUNTIME_DIR=\(folder.file("run"))\0".utf8)
    for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? [] {
      guard let number = Int32(name),
        let variables = FileManager.default.contents(atPath: "/proc/\(name)/environ"),
        variables.range(of: mark) != nil
      else { continue }
      _ = kill(number, SIGKILL)
    }
  }
}
