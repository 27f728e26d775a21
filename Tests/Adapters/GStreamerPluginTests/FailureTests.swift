import Foundation
import TestSupport
import Testing

/// Peers that die, lie or do not exist, and names that cannot be.
@Suite(.serialized) struct FailureTests {
  private let scene: PluginScene
  init() throws { scene = try PluginScene() }

  /// A pipeline that must fail: its messages.
  private func errors(_ pipeline: String, with changes: [String: String?] = [:]) throws -> String {
    let result = try scene.launch(pipeline, with: changes).finish()
    #expect(!result.status.isSuccess)
    return result.errors
  }

  @Test func errorsSayTheCauseAndTheRemedy() throws {
    #expect(
      try errors("framebussrc stream=a ! fakesink", with: ["FRAMEBUS_HOME": "/nonexistent"])
        .contains("create it with `framebus group create"))
    #expect(
      try errors("framebussrc stream=a wait-for-publisher=0 ! fakesink")
        .contains("nobody publishes stream “a”; start it"))
    #expect(
      try errors("framebussrc stream=a wait-for-publisher=200000000 ! fakesink")
        .contains("nobody publishes stream “a”; start it"))
    #expect(try errors("framebussrc stream=A ! fakesink").contains("is not allowed; use a–z"))
    #expect(try errors("framebussrc ! fakesink").contains("set the property stream"))
    let wrongName = try errors("videotestsrc ! framebussink stream=A")
    #expect(wrongName.components(separatedBy: "is not allowed; use a–z").count == 2)
    #expect(try errors("videotestsrc ! framebussink").contains("set the property stream"))
  }

  @Test func secondPublisherOfAStreamIsAnError() throws {
    let first = try scene.launch("videotestsrc is-live=true ! framebussink stream=a")
    try waitUntil("the stream is there") {
      try scene.start(["streams"]).finish().output.contains("320×240")
    }
    #expect(
      try errors("videotestsrc ! framebussink stream=a").contains("already has a publisher; stop"))
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
