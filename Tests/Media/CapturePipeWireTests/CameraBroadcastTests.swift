import Foundation
import Platform
import TestSupport
import Testing

/// A broadcast whose sandboxed extension offers a camera of PipeWire.
@Suite(.enabled(if: PipeWireSession.isAvailable, "\(PipeWireSession.need)"))
struct CameraBroadcastTests {
  private let camera: OfferedCamera
  private var world: PortalWorld { camera.world }

  init() throws {
    camera = try OfferedCamera()
    try framebus("extension", "register", "--builtin", "camera:Desk", "--id", "desk")
  }

  @discardableResult
  private func framebus(_ arguments: String...) throws -> String {
    try output(
      of: "framebus", ["--root", world.root.path, "--group", "org.example.test"] + arguments)
  }

  private func start(environment: [String: String?]? = nil) throws -> RunningProgram {
    try RunningProgram(
      "framebus",
      [
        "--root", world.root.path, "--group", "org.example.test", "broadcast", "start", "desk",
        "--yes", "--source", "test:flash", "--size", "64x48",
      ], environment: environment ?? world.session.environment)
  }

  private func status() throws -> [String: Any] {
    let text = try framebus("broadcast", "status", "--json")
    return try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] ?? [:]
  }

  private func pid(of role: String) throws -> Int32? {
    ((try status()["roles"] as? [String: [String: Any]])?[role]?["pid"] as? Int).map { Int32($0) }
  }

  @Test func confinedExtensionOffersACameraWhoseReadersDisturbNobody() throws {
    try withWatchdog {
      let host = try start()
      let node = try camera.node { host.transcript }
      #expect(try framebus("broadcast", "status").contains("confined: on"))
      let first = try camera.reader(node, "first", count: 60)
      let second = try camera.reader(node, "second", count: 60)
      // One that stops keeps its buffers, and one that is killed never returns them.
      let stopped = try camera.reader(node, "stopped", count: 1000)
      let killed = try camera.reader(node, "killed", count: 1000)
      try waitUntil("they read") {
        try !camera.pictures("stopped").isEmpty && !camera.pictures("killed").isEmpty
      }
      stopped.process.send(signal: SIGSTOP)
      try killed.end(with: SIGKILL)
      for (name, reader) in [("first", first), ("second", second)] {
        let result = try reader.finish()
        #expect(result.status.isSuccess, "\(result)")
        let seen = try camera.pictures(name)
        #expect(seen.count == 60)
        #expect(seen.contains { $0[0] > 200 } && seen.contains { $0[0] < 50 }, "\(seen)")
      }
      try stopped.end(with: SIGKILL)
      let role = try #require(try pid(of: "extension"))
      let variables = try String(
        decoding: Data(contentsOf: URL(fileURLWithPath: "/proc/\(role)/environ")), as: UTF8.self)
      #expect(variables.contains("FRAMEBUS_CAMERA="))
      let runtime = (world.session.environment["XDG_RUNTIME_DIR"] ?? nil) ?? ""
      let socket = runtime + "/pipewire-0"
      #expect(FileManager.default.fileExists(atPath: socket))
      #expect(!FileManager.default.fileExists(atPath: "/proc/\(role)/root\(socket)"))
      // Another process gets another connection.
      #expect(kill(role, SIGKILL) == 0)
      try waitUntil("the camera of the killed extension is gone") {
        try camera.findNode() != node
      }
      let next = try camera.node { host.transcript }
      let reader = try camera.reader(next, "next", count: 10)
      #expect(try reader.finish().status.isSuccess)
      try framebus("broadcast", "stop")
      #expect(try host.finish().status == .exited(0), "\(host.transcript)")
      #expect(try camera.findNode() == nil)
    }
  }

  /// The server's answers to a program that has only the connection.
  @Test func connectionOfTheExtensionSeesAndUsesNothingElse() throws {
    try withWatchdog {
      let upload = try RunningProgram(
        "framebus-upload",
        ["camera:Desk", "--root", world.root.path, "--group", "org.example.test"],
        environment: world.session.environment)
      let capture = try camera.publish()
      let node = try camera.node { upload.transcript }
      let probe = try run("GrantProbe", [node], environment: world.session.environment)
      #expect(probe.status.isSuccess, "\(probe)")
      let lines = probe.output.split(separator: "\n")
      #expect(lines.contains("PipeWire:Interface:Core - 1c0"), "\(probe)")
      #expect(lines.contains("PipeWire:Interface:Factory client-node 100"), "\(probe)")
      #expect(lines.count == 3 && lines.last == "bind refused", "\(probe)")
      try capture.end(with: SIGTERM)
      try upload.end(with: SIGTERM)
    }
  }

  @Test func missingServerEndsTheStartWithTheReason() throws {
    try withWatchdog {
      var environment = world.session.environment
      environment["XDG_RUNTIME_DIR"] = world.root.path
      let result = try start(environment: environment).finish()
      #expect(!result.status.isSuccess)
      #expect(result.errors.contains("no camera can be offered: PipeWire: it is not running"))
    }
  }
}
