import AppGroup
import Foundation
import FrameBus
import Platform
import TestSupport
import Testing

/// Cameras that a PipeWire server offers. Each test has its own server.
@Suite(.enabled(if: PipeWireServer.missing == nil, "a program of PipeWire is not installed"))
struct CameraNodeTests {
  private let root: TemporaryRoot
  private let group: AppGroup
  private let server: PipeWireServer

  init() throws {
    root = try TemporaryRoot()
    group = try AppGroup.create(.local, root: root.path)
    server = try PipeWireServer()
  }

  private func framebus(_ arguments: String...) throws -> RunningProgram {
    try RunningProgram(
      "framebus", arguments + ["--root", root.path], environment: server.environment)
  }

  /// Adds a node, and waits until it is there.
  private func node(
    _ name: String, _ description: String, pattern: String, role: String = "Camera"
  ) throws -> RunningProgram {
    let node = try server.node(name, description, pattern: pattern, role: role)
    try waitUntil("the node \(name): \(node.transcript)") {
      if let status = node.process.status { throw HarnessError("\(status) \(node.transcript)") }
      return try server.listedNodes().contains("\"\(name)\"")
    }
    return node
  }

  /// The brightness of the next picture: all pixels of a node have one colour.
  private func luma(
    _ subscriber: inout Subscriber, after lastNs: inout Int64, of capture: RunningProgram
  ) throws -> UInt8 {
    guard case .frame(let lease) = try subscriber.next(until: .after(.seconds(60))) else {
      throw HarnessError("no picture comes: \(capture.transcript)")
    }
    #expect(lease.metadata.ptsNs > lastNs)
    lastNs = lease.metadata.ptsNs
    #expect(lease.format.width == 320 && lease.format.height == 240)
    // SAFETY: the byte is read while the lease holds it.
    return unsafe lease.withUnsafeBytes { unsafe $0[0] }
  }

  @Test func nodesOfCamerasAreListedAndScreensAreNot() throws {
    try withWatchdog {
      let screen = try node("screen", "Shared_Screen", pattern: "blue", role: "Screen")
      let camera = try node("desk", "Desk_Camera", pattern: "red")
      let text = try framebus("cameras").finish()
      #expect(
        text.output.contains(
          """
          camera:desk: Desk_Camera (pipewire)
            mode     yuyv 320x240 at 30

          """), "\(text.output) \(text.errors)")
      #expect(!text.output.contains("Screen"))
      let json = try framebus("cameras", "--json").finish()
      let list = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [[String: Any]]
      let found = try #require(list?.first { $0["source"] as? String == "camera:desk" })
      #expect(found["driver"] as? String == "pipewire" && found["path"] as? String == "")
      withExtendedLifetime((screen, camera)) {}
    }
  }

  /// Another camera does not take the place of one that is gone.
  @Test func nodeThatIsGonePausesTheStreamUntilItIsBack() throws {
    try withWatchdog {
      let other = try node("other", "Other_Camera", pattern: "blue")
      var camera = try node("desk", "Desk_Camera", pattern: "red")
      // By the beginning of its description.
      let capture = try framebus("capture", "camera:desk cam".replacing(" ", with: "_"))
      var subscriber = try Subscriber(
        StreamName("camera"), in: group, waitingForPublisherUntil: .after(.seconds(60)))
      var lastNs: Int64 = 0
      func luma() throws -> Int { Int(try self.luma(&subscriber, after: &lastNs, of: capture)) }
      for _ in 0..<5 { #expect(abs(try luma() - 81) < 4) }
      camera.process.end(with: SIGKILL)
      try capture.waitForErrors("the stream is paused until the camera is back")
      camera = try node("desk", "Desk_Camera", pattern: "green")
      try capture.waitForErrors("the camera is back")
      var brightness = try luma()
      // Pictures that were published before.
      while abs(brightness - 81) < 4 { brightness = try luma() }
      for _ in 0..<5 {
        #expect(abs(brightness - 145) < 4, "\(brightness)")
        brightness = try luma()
      }
      #expect(try capture.end(with: SIGINT).status == .exited(130), "\(capture.transcript)")
      withExtendedLifetime((other, camera)) {}
    }
  }

  @Test func whatTheNodeLacksIsRefused() throws {
    try withWatchdog {
      let camera = try node("desk", "Desk_Camera", pattern: "red")
      let size = try framebus("capture", "camera:desk", "--size", "99x99").finish()
      #expect(size.status == .exited(1))
      #expect(size.errors.contains("it has yuyv 320x240 at 30"), "\(size.errors)")
      let control = try framebus("capture", "camera:desk", "--control", "gain=1").finish()
      #expect(control.errors.contains("has no controls"), "\(control.errors)")
      let unknown = try framebus("capture", "camera:attic").finish()
      #expect(unknown.status == .exited(1))
      #expect(unknown.errors.contains("there is no camera “attic”"), "\(unknown.errors)")
      withExtendedLifetime(camera) {}
    }
  }
}
