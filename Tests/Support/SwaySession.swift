import Foundation
import Platform

/// A Wayland session for one test, without a monitor: sway with its software renderer, in a runtime
/// directory of its own. As sway refuses root, a user of its own runs it there.
package final class SwaySession: Sendable {
  /// Whether this machine can run it; tests that need it are skipped with a message otherwise.
  package static var isAvailable: Bool {
    programInPath(named: "sway") != nil && (geteuid() != 0 || TestUser.canBeCreated)
  }

  /// Where scripts/newer-sway has unpacked a newer one; nil for nowhere.
  package static var newer: String? { environmentValue("FRAMEBUS_NEWER_SWAY") }

  private let folder: TemporaryRoot
  private let user: TestUser?
  private let configuration: String
  private let installation: String?
  package let sway: RunningProgram

  /// The first output, the only one at the start.
  package static let firstOutput = "HEADLESS-1"
  /// The compositor's socket.
  package let socket: String
  /// That of swaymsg.
  package let control: String

  /// - Parameters:
  ///   - size: of the output, such as `320x240`.
  ///   - installation: the directory of another sway than the system's.
  package convenience init(_ size: String = "320x240", from installation: String? = nil) throws {
    let folder = try TemporaryRoot(mode: 0o755)
    let user = geteuid() == 0 ? try TestUser() : nil
    let configuration = """
      output * mode --custom \(size)@60Hz
      output * bg #204060 solid_color
      default_border none
      floating_minimum_size 10 x 10
      for_window [app_id="sample"] floating enable
      """
    try self.init(in: folder, of: user, configuration, installation)
  }

  /// Starts the same session again, with the same socket, after this one has ended.
  package func restarted() throws -> SwaySession {
    try SwaySession(in: folder, of: user, configuration, installation)
  }

  private init(
    in folder: TemporaryRoot, of user: TestUser?, _ configuration: String, _ installation: String?
  ) throws {
    self.folder = folder
    self.user = user
    self.installation = installation
    self.configuration = configuration
    let runtime = folder.file("run")
    control = folder.file("run/control")
    try configuration.write(toFile: folder.file("config"), atomically: true, encoding: .utf8)
    try? FileManager.default.removeItem(atPath: control)
    if !FileManager.default.fileExists(atPath: runtime) {
      try output(of: "mkdir", ["-m", "700", runtime])
      if let user { try output(of: "chown", ["\(user.uid):\(user.gid)", runtime]) }
    }
    let environment: [String: String?] = [
      "XDG_RUNTIME_DIR": runtime, "SWAYSOCK": control, "WLR_BACKENDS": "headless",
      "WLR_RENDERER": "pixman", "WLR_LIBINPUT_NO_DEVICES": "1", "WAYLAND_DISPLAY": nil,
      "DISPLAY": nil, "DBUS_SESSION_BUS_ADDRESS": nil,
    ]
    var command = ["sway", "--config", folder.file("config")]
    if let installation {
      // With its own C library.
      let libraries = installation + "/usr/lib/x86_64-linux-gnu"
      command[0] = installation + "/usr/bin/sway"
      command = [libraries + "/ld-linux-x86-64.so.2", "--library-path", libraries] + command
    }
    let arguments = Array(command.dropFirst())
    let sway =
      try user?.start(command[0], arguments, environment: environment)
      ?? RunningProgram(command[0], arguments, environment: environment)
    self.sway = sway
    // The compositor takes the first free name after 0.
    socket = runtime + "/wayland-1"
    let control = control
    try waitUntil("sway listens\n\(sway.transcript)") {
      let result = try run("swaymsg", ["-s", control, "-t", "get_outputs"])
      return result.status.isSuccess && result.output.contains(Self.firstOutput)
    }
  }

  /// The environment for a client of this session.
  package var environment: [String: String?] {
    ["WAYLAND_DISPLAY": socket, "DISPLAY": nil, "XDG_SESSION_TYPE": nil]
  }

  /// Sends a command of sway(5).
  package func command(_ words: String...) throws {
    try TestSupport.output(of: "swaymsg", ["-s", control, "--"] + words)
  }

  /// Fills all outputs with a colour, such as `#12ab34`.
  package func paint(_ color: String) throws {
    try command("output", "*", "bg", color, "solid_color")
  }

  /// Shows a window of one colour, such as `ff00ff`, above all others.
  /// - Parameter area: in logical coordinates.
  package func showWindow(_ color: String, x: Int, y: Int, width: Int, height: Int) throws {
    let title = "sample\(x)-\(y)"
    for deed in [
      "floating enable", "resize set \(width) \(height)", "move absolute position \(x) \(y)",
    ] {
      try command("for_window", "[title=\"\(title)\"]", deed)
    }
    try command(
      "exec", "foot --app-id sample --title \(title) -o locked-title=yes",
      "-o colors.background=\(color) -o pad=0x0 -o cursor.color='\(color) \(color)'",
      "sh -c 'read never'")
  }

  /// What an output shows, as an independent program captures it: upright rows of R, G, B.
  package func independentGrab() throws -> (width: Int, height: Int, pixels: [UInt8]) {
    let path = folder.file("grab.ppm")
    let result = try run(
      "grim", ["-t", "ppm", "-o", Self.firstOutput, path], environment: environment)
    guard result.status.isSuccess else { throw HarnessError("grim: \(result.errors)") }
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    // P6, width, height, the largest value, then the pixels.
    var words: [String] = []
    var offset = 0
    while words.count < 4, offset < bytes.count {
      let end = bytes[offset...].firstIndex { $0 == 10 || $0 == 32 } ?? bytes.count
      words.append(String(decoding: bytes[offset..<end], as: UTF8.self))
      offset = end + 1
    }
    guard words.count == 4, let width = Int(words[1]), let height = Int(words[2]),
      bytes.count - offset == width * height * 3
    else { throw HarnessError("grim wrote \(words)") }
    return (width, height, Array(bytes[offset...]))
  }

  deinit { sway.process.end(with: SIGTERM) }
}
