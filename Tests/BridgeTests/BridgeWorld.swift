import Foundation
import TestSupport
import Testing

@testable import AppGroup
@testable import Bridge
@testable import NotifyCenter
@testable import Platform
@testable import SharedDefaults

/// A real nats-server with JetStream, whose files outlive a restart.
final class NATSServer {
  let root: TemporaryRoot
  let port: OwnPort
  private let settings: String
  private(set) var process: RunningProgram?

  /// - Parameter settings: further lines of its configuration.
  init(settings: String = "") throws {
    root = try TemporaryRoot()
    port = try OwnPort()
    self.settings = settings
    try start()
  }

  var address: String { "nats://127.0.0.1:\(port.number)" }

  func start() throws {
    let text = """
      listen: "127.0.0.1:\(port.number)"
      jetstream { store_dir: "\(root.file("store"))" }
      \(settings)
      """
    try text.write(toFile: root.file("server.conf"), atomically: true, encoding: .utf8)
    let process = try RunningProgram("/usr/sbin/nats-server", ["-c", root.file("server.conf")])
    try process.waitForErrors("Server is ready")
    self.process = process
  }

  func kill() throws {
    _ = try process?.end(with: SIGKILL)
    process = nil
  }
}

/// A machine of a group: the group's directories, as only this machine has them.
final class Machine {
  let name: String
  let root: TemporaryRoot
  let group: AppGroup
  let center: NotifyCenter
  private(set) var bridge: RunningProgram?

  init(_ name: String, bridging table: String) throws {
    self.name = name
    root = try TemporaryRoot()
    let id = try GroupID("org.example.bridge")
    _ = try AppGroup.create(id, root: root.path)
    let manifest = root.file("state/\(id)/manifest.toml")
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: manifest))
    try file.seekToEnd()
    try file.write(contentsOf: Data(("\n[bridge]\n" + table + "\n").utf8))
    try file.close()
    group = try AppGroup.open(id, root: root.path)
    center = try NotifyCenter(group, role: .host)
  }

  var options: [String] { ["--root", root.path, "--group", "\(group.id)"] }

  /// Starts the bridge, as a user does, and waits for its connection.
  func connect(
    to server: String, _ more: [String] = [], environment: [String: String?] = [:],
    waits: Bool = true, isConfined: Bool = true
  ) throws {
    let program = isConfined ? ["framebus", "bridge"] : ["framebus-bridge"]
    let bridge = try RunningProgram(
      program[0], program.dropFirst() + [server, "--machine", name, "-v"] + more + options,
      environment: environment)
    self.bridge = bridge
    if waits { try bridge.waitForErrors("connected to ") }
  }

  @discardableResult
  func disconnect(with signal: Int32 = SIGTERM) throws -> ProgramResult? {
    defer { bridge = nil }
    let result = try bridge?.end(with: signal)
    // The confined program dies with the command, but not in the same moment.
    try waitUntil("the bridge of \(name) ended") {
      (try? BridgeLock.take(in: group)) != nil
    }
    return result
  }

  func post(_ name: String, state: UInt64? = nil) throws {
    let name = try NotificationName(name)
    if let state { try center.setState(state, of: name) }
    _ = try center.post(name)
  }

  func generation(_ name: String) throws -> UInt64 {
    try center.generation(of: NotificationName(name))
  }

  func state(_ name: String) throws -> UInt64 { try center.state(of: NotificationName(name)) }

  func waitFor(_ name: String, state: UInt64) throws {
    try waitUntil(
      "\(self.name) has state \(state) of \(name)\n\(bridge?.transcript ?? "")"
    ) { try self.state(name) == state }
  }

  func suite(_ name: String) throws -> SharedDefaults {
    try SharedDefaults(suiteName: name, in: group)
  }
}

/// Variables that shift the wall clock of a program, and not its monotonic one.
func fakeTime(_ shift: String) -> [String: String?] {
  [
    "LD_PRELOAD": "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1", "FAKETIME": shift,
    "FAKETIME_DONT_FAKE_MONOTONIC": "1",
  ]
}
