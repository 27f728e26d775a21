import Foundation
import Platform

/// A session bus, PipeWire and WirePlumber for one test, without a login session: in a runtime
/// directory of its own, with nobody's devices.
package final class PipeWireSession: Sendable {
  /// Whether this machine can run it; tests that need it are skipped with a message otherwise.
  package static var isAvailable: Bool {
    ["dbus-daemon", "pipewire", "wireplumber", "pw-dump"].allSatisfy {
      programInPath(named: $0) != nil
    }
  }
  package static let need = "needs PipeWire and WirePlumber: scripts/setup --test"

  private let folder: TemporaryRoot
  private let programs: [RunningProgram]
  package let server: RunningProgram
  package let runtime: String

  /// - Parameter hasManager: false leaves WirePlumber out, without which nobody links nodes.
  package init(hasManager: Bool = true) throws {
    folder = try TemporaryRoot()
    runtime = folder.file("run")
    try output(of: "mkdir", ["-m", "700", runtime])
    let rules = folder.file("config/wireplumber/bluetooth.lua.d")
    try output(of: "mkdir", ["-p", rules])
    // Without a login session, WirePlumber ends at once if it asks logind for Bluetooth's seat.
    try """
    bluez_monitor.enabled = false
    bluez_monitor.properties["with-logind"] = false
    """.write(toFile: rules + "/51-no-logind.lua", atomically: true, encoding: .utf8)
    let environment = Self.environment(of: folder)
    // Without the services of this machine, which would start on demand.
    try """
    <busconfig><type>session</type><listen>unix:path=\(runtime)/bus</listen>
    <policy context="default"><allow send_destination="*"/><allow receive_sender="*"/>
    <allow own="*"/><allow user="*"/></policy></busconfig>
    """.write(toFile: folder.file("bus.conf"), atomically: true, encoding: .utf8)
    let bus = try RunningProgram(
      "dbus-daemon",
      ["--nofork", "--print-address=1", "--config-file=\(folder.file("bus.conf"))"],
      environment: environment)
    try bus.waitForOutput("\n")
    let server = try RunningProgram("pipewire", [], environment: environment)
    self.server = server
    let socket = runtime + "/pipewire-0"
    try waitUntil("PipeWire listens: \(server.transcript)") {
      FileManager.default.fileExists(atPath: socket)
    }
    guard hasManager else {
      programs = [server, bus]
      return
    }
    let manager = try RunningProgram("wireplumber", [], environment: environment)
    try waitUntil("WirePlumber is there: \(manager.transcript)") {
      try run("pw-dump", [], environment: environment).output.contains("\"metadata.name\"")
    }
    programs = [manager, server, bus]
  }

  /// The environment for a program of this session.
  package var environment: [String: String?] { Self.environment(of: folder) }

  private static func environment(of folder: TemporaryRoot) -> [String: String?] {
    let runtime = folder.file("run")
    return [
      "XDG_RUNTIME_DIR": runtime, "DBUS_SESSION_BUS_ADDRESS": "unix:path=\(runtime)/bus",
      "XDG_CONFIG_HOME": folder.file("config"), "XDG_STATE_HOME": folder.file("state"),
      "PIPEWIRE_RUNTIME_DIR": nil, "PIPEWIRE_REMOTE": nil, "PULSE_SERVER": nil, "DISPLAY": nil,
      "WAYLAND_DISPLAY": nil,
    ]
  }

  /// Starts a program of this session.
  package func start(
    _ program: String, _ arguments: [String], input: LaunchOptions.Stream = .null
  ) throws -> RunningProgram {
    try RunningProgram(program, arguments, environment: environment, input: input)
  }

  deinit { for program in programs { program.process.end(with: SIGTERM) } }
}

/// A program under test that reads lines from its standard input.
package final class CommandedProgram: Sendable {
  package let program: RunningProgram
  private let commands: SharedDescriptor

  package init(
    _ name: String, _ arguments: [String], environment: [String: String?]
  ) throws {
    let pipe = try OneWayPipe()
    program = try RunningProgram(
      name, arguments, environment: environment, input: .descriptor(pipe.readEnd.number))
    commands = SharedDescriptor(owning: try pipe.writeEnd.duplicate().release())
  }

  package func tell(_ line: String) throws {
    try writeFully(Array((line + "\n").utf8), to: commands.number)
  }

  package func end() { program.process.end(with: SIGTERM) }
}
