import AppGroup
import Foundation
import FrameBus
import Platform
import TestSupport
import Testing

/// A stream as a camera of PipeWire, read by GStreamer.
@Suite(.enabled(if: PipeWireSession.isAvailable, "\(PipeWireSession.need)"))
struct CameraTests {
  private let camera: OfferedCamera
  private var world: PortalWorld { camera.world }

  init() throws { camera = try OfferedCamera() }

  /// Starts `framebus-upload camera:Desk`.
  private func upload(_ arguments: String...) throws -> RunningProgram {
    try RunningProgram(
      "framebus-upload",
      ["camera:Desk", "--root", world.root.path, "--group", "org.example.test"] + arguments,
      environment: world.session.environment)
  }

  @Test func severalReadersSeeThePicturesAndDisturbNobody() throws {
    try withWatchdog {
      let capture = try camera.publish()
      let upload = try upload()
      let node = try camera.node()
      let first = try camera.reader(node, "first", count: 60)
      let second = try camera.reader(node, "second", count: 60)
      // One that stops keeps its buffers, and one that is killed never returns them.
      let stopped = try camera.reader(node, "stopped", count: 1000)
      try waitUntil("it reads") { try !camera.pictures("stopped").isEmpty }
      stopped.process.send(signal: SIGSTOP)
      for name in ["first", "second"] {
        let result = try (name == "first" ? first : second).finish()
        #expect(result.status.isSuccess, "\(result)")
        let seen = try camera.pictures(name)
        #expect(seen.count == 60)
        // The pattern is black, and white for a moment of each second.
        #expect(seen.contains { $0[0] > 200 } && seen.contains { $0[0] < 50 }, "\(seen)")
      }
      // More readers one after another than there are buffers.
      for round in 1...10 {
        let reader = try camera.reader(node, "round\(round)", count: 1000)
        try waitUntil("reader \(round) reads\n\(upload.transcript)") {
          try camera.pictures("round\(round)").count > 2
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

  @Test func endOfPipeWireEndsTheUploadWithTheReason() throws {
    try withWatchdog {
      let capture = try camera.publish()
      let upload = try upload()
      let reader = try camera.reader(try camera.node(), "pictures", count: 1000)
      try waitUntil("it reads") { try !camera.pictures("pictures").isEmpty }
      try world.session.server.end(with: SIGKILL)
      let result = try upload.finish()
      #expect(!result.status.isSuccess && result.errors.contains("camera:Desk"), "\(result)")
      reader.process.end(with: SIGKILL)
      try capture.end(with: SIGTERM)
    }
  }

  /// Readers stay while the stream changes its size.
  @Test func newSizeReachesReadersThatStay() throws {
    try withWatchdog {
      let portal = try world.portal()
      let producer = try world.producer("server")
      defer {
        portal.end()
        producer.end()
      }
      let capture = try world.capture()
      let upload = try upload()
      let node = try camera.node { "\(capture.transcript)\n\(upload.transcript)" }
      // It negotiates the size with PipeWire, but tells it to no other element.
      let reader = try RunningProgram(
        "gst-launch-1.0",
        [
          "pipewiresrc", "path=\(node)", "!", "video/x-raw,format=I420", "!", "progressreport",
          "do-query=false", "update-freq=1", "format=buffers", "!", "fakesink",
        ],
        environment: world.session.environment.merging(["GST_DEBUG": "pipewiresrc:5"]) { $1 })
      try reader.waitForErrors("format=(string)I420, width=(int)64, height=(int)48")
      // PipeWire 0.3.65 loses a size that changes while the reader begins.
      try reader.waitForOutput(" buffers")
      // Too large for the buffers that the reader has until then.
      try producer.tell("size 1920x1080")
      try reader.waitForErrors("format=(string)I420, width=(int)1920, height=(int)1080")
      #expect(upload.process.status == nil, "\(upload.transcript)")
      try reader.end(with: SIGKILL)
      try upload.end(with: SIGTERM)
      try capture.end(with: SIGTERM)
    }
  }

  @Test func errorsSayWhatToDo() throws {
    let capture = try camera.publish()
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
