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
  private var settings: String
  private let host: String
  private let network: OwnNetwork?
  private var diskBytes: Int?
  private let storeBytes: Int?
  private(set) var process: RunningProgram?

  /// - Parameters:
  ///   - settings: further lines of its configuration.
  ///   - waits: whether to wait until it is ready, which one of a cluster is only with another.
  ///   - diskBytes: the size of a disk of its own, which is empty at each start; nil for this
  ///     machine's.
  ///   - storeBytes: how much the server believes to have; nil for what its disk has.
  init(
    settings: String = "", waits: Bool = true, diskBytes: Int? = nil, storeBytes: Int? = nil,
    in network: OwnNetwork? = nil, host: String = "127.0.0.1"
  ) throws {
    root = try TemporaryRoot()
    port = try OwnPort()
    self.settings = settings
    self.host = host
    self.network = network
    self.diskBytes = diskBytes
    self.storeBytes = storeBytes
    try start(waits: waits)
  }

  var address: String { "nats://\(host == "0.0.0.0" ? "127.0.0.1" : host):\(port.number)" }

  /// - Parameter settings: in place of the former ones.
  func start(
    settings changed: String? = nil, waits: Bool = true, diskBytes changedBytes: Int? = nil
  ) throws {
    settings = changed ?? settings
    diskBytes = changedBytes ?? diskBytes
    let (file, store) = (root.file("server.conf"), root.file("store"))
    let text = """
      listen: "\(host):\(port.number)"
      jetstream { store_dir: "\(store)"\(storeBytes.map { ", max_file_store: \($0)" } ?? "") }
      \(settings)
      """
    try text.write(toFile: file, atomically: true, encoding: .utf8)
    // Its debug lines say why it refused a client.
    let (program, arguments) = ("/usr/sbin/nats-server", ["-D", "-c", file])
    let process: RunningProgram
    if let network {
      process = try network.start(program, arguments)
    } else if let diskBytes {
      let script = """
        mkdir -p \(store) && mount -t tmpfs -o size=\(diskBytes) disk \(store) \
        && exec \(program) -D -c \(file)
        """
      process = try RunningProgram("unshare", ["--mount", "sh", "-c", script])
    } else {
      process = try RunningProgram(program, arguments)
    }
    if waits { try process.waitForErrors("Server is ready") }
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
    try Self.append("[bridge]\n" + table, to: root.file("state/\(id)/manifest.toml"))
    group = try AppGroup.open(id, root: root.path)
    center = try NotifyCenter(group, role: .host)
  }

  private static func append(_ table: String, to manifest: String) throws {
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: manifest))
    try file.seekToEnd()
    try file.write(contentsOf: Data(("\n" + table + "\n").utf8))
    try file.close()
  }

  /// Adds a table to the manifest, which programs that run notice.
  func add(_ table: String) throws {
    try Self.append(table, to: root.file("state/\(group.id)/manifest.toml"))
  }

  var options: [String] { ["--root", root.path, "--group", "\(group.id)"] }

  /// Starts the bridge, as a user does, and waits for its connection.
  func connect(
    to server: String, _ more: [String] = [], environment: [String: String?] = [:],
    waits: Bool = true, isConfined: Bool = true, in network: OwnNetwork? = nil
  ) throws {
    let program = isConfined ? ["framebus", "bridge"] : ["framebus-bridge"]
    let arguments = program.dropFirst() + [server, "--machine", name, "-v"] + more + options
    let bridge =
      try network?.start(program[0], Array(arguments), environment: environment)
      ?? RunningProgram(program[0], Array(arguments), environment: environment)
    self.bridge = bridge
    if waits { try bridge.waitForErrors(" as \(name)\n") }
  }

  /// Stores the secret of the credential `nats/ACCOUNT`.
  func seal(_ secret: String, _ account: String) throws {
    let pipe = try OneWayPipe()
    try writeFully(Array(secret.utf8), to: pipe.writeEnd.number)
    let end = pipe.takeReadEnd()
    let result = try RunningProgram(
      "framebus", ["credential", "set", "nats", account] + options,
      input: .descriptor(end.number)
    ).finish()
    guard result.status.isSuccess else { throw HarnessError(result.errors) }
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
