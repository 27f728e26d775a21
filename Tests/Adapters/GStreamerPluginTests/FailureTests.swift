import Foundation
import TestSupport
import Testing

/// Peers that die, lie or do not exist, and names that cannot be.
@Suite(.serialized) struct FailureTests {
  private let scene: PluginScene
  init() throws { scene = try PluginScene() }

  /// Runs a pipeline that must fail with a message.
  ///
  /// It is killed then: gst-launch-1.0 1.22 runs on if the error comes before its main loop.
  private func requireError(
    _ text: String, of pipeline: String, with changes: [String: String?] = [:]
  ) throws {
    let program = try scene.launch(pipeline, with: changes)
    try program.waitForErrors(text)
    _ = try program.end(with: SIGKILL)
    #expect(program.errors.text.components(separatedBy: text).count == 2)
  }

  @Test func errorsSayTheCauseAndTheRemedyOnce() throws {
    try requireError(
      "create it with `framebus group create", of: "framebussrc stream=a ! fakesink",
      with: ["FRAMEBUS_HOME": "/nonexistent"])
    for timeout in [0, 200_000_000] {
      try requireError(
        "nobody publishes stream “a”; start it",
        of: "framebussrc stream=a wait-for-publisher=\(timeout) ! fakesink")
    }
    try requireError("is not allowed; use a–z", of: "framebussrc stream=A ! fakesink")
    try requireError("is not allowed; use a–z", of: "videotestsrc ! framebussink stream=A")
    let caps = "video/x-raw,format=BGRx,pixel-aspect-ratio=4/3"
    try requireError(
      "its pixels are not square, and streams have only such; put videoscale before",
      of: "videotestsrc ! \(caps) ! framebussink stream=a")
    try requireError("set the property stream", of: "framebussrc ! fakesink")
    try requireError("set the property stream", of: "videotestsrc ! framebussink")
  }

  @Test func secondPublisherOfAStreamIsAnError() throws {
    let first = try scene.launch("videotestsrc is-live=true ! framebussink stream=a")
    try waitUntil("the stream is there") {
      try scene.start(["streams"]).finish().output.contains("320×240")
    }
    try requireError(
      "already has a publisher; stop", of: "videotestsrc ! framebussink stream=a")
    _ = try first.end(with: SIGINT)
  }

  private func publisher(color: Int) throws -> RunningProgram {
    try scene.launch(
      "videotestsrc is-live=true pattern=solid-color foreground-color=\(0xff00_0000 + color) "
        + "! video/x-raw,format=BGRx,width=32,height=32,framerate=100/1 ! framebussink stream=a")
  }

  @Test func framesOfASuccessorFollowThoseOfAKilledPublisher() throws {
    let receiver = try scene.harness("receive")
    for color in [11, 22, 33] {
      let publisher = try publisher(color: color)
      try receiver.waitForOutput(" new \(color)\n")
      publisher.process.send(signal: SIGKILL)
      _ = try publisher.finish()
    }
    let last = try publisher(color: 44)
    try receiver.waitForOutput(" new 44\n")
    _ = try last.end(with: SIGINT)
    try receiver.waitForOutput("end received")
    #expect(try receiver.finish().status.isSuccess)
  }

  @Test func sourceReportsAPublisherThatDoesNotComeBack() throws {
    let receiver = try scene.harness("receive", 1)
    let publisher = try publisher(color: 7)
    try receiver.waitForOutput(" new 7\n")
    publisher.process.send(signal: SIGKILL)
    try receiver.waitForOutput("error Stream a has had no publisher for 2000 ms; start it")
    #expect(try receiver.finish().status.isSuccess)
    _ = try publisher.finish()
  }

  @Test func killedReceiverDelaysNobody() throws {
    let publisher = try publisher(color: 5)
    for _ in 0..<3 {
      let receiver = try scene.harness("receive")
      try receiver.waitForOutput(" 5\n")
      receiver.process.send(signal: SIGKILL)
      _ = try receiver.finish()
    }
    let receiver = try scene.harness("receive")
    try receiver.waitForOutput("frame ")
    #expect(try publisher.end(with: SIGINT).status.isSuccess, "\(publisher.transcript)")
    try receiver.waitForOutput("end received")
    _ = try receiver.finish()
  }

  @Test func lyingPublisherEndsInAMessage() throws {
    let streams = scene.file("run/group.local.framebus/streams")
    try FileManager.default.createDirectory(atPath: streams, withIntermediateDirectories: true)
    let liar = try RunningProgram(
      "/usr/bin/python3", [tool("hostile_peer.py"), "liar", streams + "/a.sock"])
    try liar.waitForOutput("ready")
    for _ in 0..<5 {
      let receiver = try scene.harness("receive", 1)
      try receiver.waitForOutput("error ")
      #expect(try receiver.finish().status.isSuccess, "\(receiver.transcript)")
    }
    _ = try liar.end(with: SIGKILL)
  }
}
