import Foundation
import Platform

/// A PipeWire server with its session manager, in a directory of its own, run by an ordinary user
/// where one can be made. It has no devices but those that `camera` adds.
package final class PipeWireServer: Sendable {
  private let root: TemporaryRoot
  private let user: TestUser?
  private let programs: [RunningProgram]
  /// For programs that are to use it.
  package let environment: [String: String?]

  /// What this machine lacks for it; nil if nothing is missing.
  package static var missing: String? {
    ["pipewire", "wireplumber", "dbus-daemon", "gst-launch-1.0"]
      .first { programInPath(named: $0) == nil }
  }

  package init() throws {
    let root = try TemporaryRoot()
    let user = TestUser.canBeCreated ? try TestUser() : nil
    let bus = root.file("bus")
    let environment: [String: String?] = [
      "HOME": root.path, "XDG_RUNTIME_DIR": root.path, "XDG_CONFIG_HOME": root.file("config"),
      "XDG_STATE_HOME": root.file("state"), "DBUS_SESSION_BUS_ADDRESS": "unix:path=\(bus)",
      "PIPEWIRE_RUNTIME_DIR": nil, "PIPEWIRE_REMOTE": nil, "DISPLAY": nil,
    ]
    // No services: the server would start those of a desktop.
    try Data(
      """
      <busconfig><type>session</type><listen>unix:path=\(bus)</listen><policy context="default">
      <allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/>
      </policy></busconfig>
      """.utf8
    ).write(to: URL(filePath: root.file("bus.conf")))
    // The session manager ends where no login manager runs, unless it leaves Bluetooth alone.
    let folder = root.file("config/wireplumber/bluetooth.lua.d")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Data("bluez_monitor.enabled = false\n".utf8)
      .write(to: URL(filePath: folder + "/51-no-bluetooth.lua"))
    if let user { try output(of: "chown", ["-R", user.name, root.path]) }
    func start(_ name: String, _ arguments: [String] = []) throws -> RunningProgram {
      try Self.start(name, arguments, user, environment)
    }
    let daemon = try start("dbus-daemon", ["--nofork", "--config-file=\(root.file("bus.conf"))"])
    try waitUntil("a session bus: \(daemon.transcript)") {
      FileManager.default.fileExists(atPath: root.file("bus"))
    }
    let server = try start("pipewire")
    try waitUntil("a PipeWire server: \(server.transcript)") {
      FileManager.default.fileExists(atPath: root.file("pipewire-0"))
    }
    self.root = root
    self.user = user
    self.environment = environment
    programs = [try start("wireplumber"), server, daemon]
  }

  private static func start(
    _ name: String, _ arguments: [String], _ user: TestUser?, _ environment: [String: String?]
  ) throws -> RunningProgram {
    guard let user else { return try RunningProgram(name, arguments, environment: environment) }
    return try user.start(name, arguments, environment: environment)
  }

  /// Adds a node with pictures of one colour, 320 × 240 at 30 frames a second, until it ends.
  /// - Parameter role: `Camera`, or `Screen` for what the portal shares.
  package func node(
    _ name: String, _ description: String, pattern: String, role: String = "Camera"
  ) throws -> RunningProgram {
    let properties =
      "props,media.class=Video/Source,node.name=\(name),node.description=\(description)"
      + ",media.role=\(role)"
    return try Self.start(
      "gst-launch-1.0",
      [
        "-q", "videotestsrc", "is-live=true", "pattern=\(pattern)", "!",
        "video/x-raw,format=YUY2,width=320,height=240,framerate=30/1", "!", "pipewiresink",
        "mode=provide", "stream-properties=\(properties)",
      ], user, environment)
  }

  /// The nodes, as an independent tool lists them.
  package func listedNodes() throws -> String {
    try run("pw-cli", ["ls", "Node"], environment: environment).output
  }

  deinit { for program in programs { program.process.end(with: SIGKILL) } }
}
