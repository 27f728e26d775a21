import AppGroup
import Foundation
import FrameBus
import Platform
import TestSupport
import Testing

/// A stream as a camera of PipeWire, read by GStreamer.
@Suite(.enabled(if: PipeWireSession.isAvailable, "\(PipeWireSession.need)"))
struct CameraTests {
  private static let (width, height) = (64, 48)
  private static var pictureBytes: Int { width * height * 3 / 2 }

  private let world: PortalWorld

  init() throws { world = try PortalWorld() }

  /// Starts `framebus-upload camera:Desk`.
  private func upload(_ arguments: String...) throws -> RunningProgram {
    try RunningProgram(
      "framebus-upload",
      ["camera:Desk", "--root", world.root.path, "--group", "org.example.test"] + arguments,
      environment: world.session.environment)
  }

  /// Publishes pictures of one number, which their luma shows.
  private func publish() throws -> RunningProgram {
    let capture = try RunningProgram(
      "framebus-capture",
      [
        "test:flash", "--size", "64x48", "--root", world.root.path, "--group", "org.example.test",
      ],
      environment: world.session.environment)
    return capture
  }

  /// The camera's node.
  private func node() throws -> String {
    var found = ""
    try waitUntil("the camera is there") {
      let dump = try run("pw-dump", [], environment: world.session.environment).output
      let objects = try JSONSerialization.jsonObject(with: Data(dump.utf8)) as? [[String: Any]]
      for object in objects ?? [] {
        guard let info = object["info"] as? [String: Any],
          let properties = info["props"] as? [String: Any],
          properties["node.name"] as? String == "Desk",
          properties["media.class"] as? String == "Video/Source",
          let id = object["id"] as? Int
        else { continue }
        found = "\(id)"
      }
      return !found.isEmpty
    }
    return found
  }

  private func reader(_ node: String, _ file: String, count: Int) throws -> RunningProgram {
    try world.session.start(
      "gst-launch-1.0",
      [
        "-e", "pipewiresrc", "path=\(node)", "num-buffers=\(count)", "!", "video/x-raw,format=I420",
        "!", "filesink", "buffer-mode=2", "location=\(world.root.file(file))",
      ])
  }

  /// The luma of the corners of each picture in a file.
  private func pictures(_ file: String) throws -> [[UInt8]] {
    // The reader creates it.
    guard let data = try? Data(contentsOf: URL(fileURLWithPath: world.root.file(file))) else {
      return []
    }
    let bytes = [UInt8](data)
    let size = Self.pictureBytes
    return (0..<bytes.count / size).map { index in
      let start = index * size
      return [bytes[start], bytes[start + Self.width * Self.height - 1]]
    }
  }

  @Test func severalReadersSeeThePicturesAndDisturbNobody() throws {
    try withWatchdog {
      let capture = try publish()
      let upload = try upload()
      let node = try node()
      let first = try reader(node, "first", count: 60)
      let second = try reader(node, "second", count: 60)
      // One that stops keeps its buffers, and one that is killed never returns them.
      let stopped = try reader(node, "stopped", count: 1000)
      try waitUntil("it reads") { try !pictures("stopped").isEmpty }
      stopped.process.send(signal: SIGSTOP)
      for name in ["first", "second"] {
        let result = try (name == "first" ? first : second).finish()
        #expect(result.status.isSuccess, "\(result)")
        let seen = try pictures(name)
        #expect(seen.count == 60)
        // The pattern is black, and white for a moment of each second.
        #expect(seen.contains { $0[0] > 200 } && seen.contains { $0[0] < 50 }, "\(seen)")
      }
      // More readers one after another than there are buffers.
      for round in 1...10 {
        let reader = try reader(node, "round\(round)", count: 1000)
        try waitUntil("reader \(round) reads\n\(upload.transcript)") {
          try pictures("round\(round)").count > 2
        }
        try reader.end(with: SIGKILL)
      }
      try stopped.end(with: SIGKILL)
      #expect(upload.process.wait(until: .now) == nil, "\(upload.transcript)")
      #expect(try upload.end(with: SIGTERM).status == .exited(0), "\(upload.transcript)")
      try capture.end(with: SIGTERM)
      // The camera is gone with its program.
      let dump = try run("pw-dump", [], environment: world.session.environment).output
      #expect(!dump.contains("\"Desk\""))
    }
  }

  @Test func errorsSayWhatToDo() throws {
    let capture = try publish()
    defer { capture.process.end(with: SIGTERM) }
    var environment = world.session.environment
    environment["XDG_RUNTIME_DIR"] = world.root.path
    let result = try RunningProgram(
      "framebus-upload",
      ["camera:Desk", "--root", world.root.path, "--group", "org.example.test"],
      environment: environment
    ).finish()
    #expect(result.errors.contains("PipeWire does not answer"), "\(result)")
    let misused = try run(
      "framebus-upload",
      ["camera:a\u{7}b", "--root", world.root.path, "--group", "org.example.test"])
    #expect(misused.errors.contains("the name of a camera has 1 to 64 bytes"), "\(misused)")
  }
}
