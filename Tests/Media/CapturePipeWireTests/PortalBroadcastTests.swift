import Foundation
import FrameBus
import Platform
import TestSupport
import Testing

/// A broadcast of what the user of a desktop chose. The host talks to the portal.
@Suite(.enabled(if: PipeWireSession.isAvailable, "\(PipeWireSession.need)"))
struct PortalBroadcastTests {
  private let world: PortalWorld

  init() throws {
    world = try PortalWorld()
    try framebus("extension", "register", "--builtin", "null", "--id", "up")
  }

  @discardableResult
  private func framebus(_ arguments: String...) throws -> String {
    try output(
      of: "framebus", ["--root", world.root.path, "--group", "org.example.test"] + arguments)
  }

  private func start() throws -> RunningProgram {
    try RunningProgram(
      "framebus",
      [
        "--root", world.root.path, "--group", "org.example.test", "broadcast", "start", "up",
        "--yes", "--source", "portal",
      ], environment: world.session.environment)
  }

  private func status() throws -> [String: Any] {
    let text = try framebus("broadcast", "status", "--json")
    return try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] ?? [:]
  }

  private func pid(of role: String) throws -> Int? {
    (try status()["roles"] as? [String: [String: Any]])?[role]?["pid"] as? Int
  }

  private func waitForPictures(_ host: RunningProgram) throws {
    var subscriber = try world.subscriber()
    let picture = try? subscriber.take { $0.number != nil }
    let log = try framebus("log")
    #expect(picture != nil, "\(host.transcript)\n\(log)")
  }

  @Test func hostAsksAndTheCaptureHasOneConnection() throws {
    try withWatchdog {
      let portal = try world.portal()
      let producer = try world.producer()
      defer {
        portal.end()
        producer.end()
      }
      let host = try start()
      try waitForPictures(host)
      let capture = try #require(try pid(of: "capture"))
      let variables = try String(
        decoding: Data(contentsOf: URL(fileURLWithPath: "/proc/\(capture)/environ")),
        as: UTF8.self)
      #expect(!variables.contains("DBUS_SESSION_BUS_ADDRESS"))
      #expect(try framebus("log").contains("the capture is confined"))
      #expect(portal.program.output.text.components(separatedBy: "dialog").count == 2)
      // A capture that was killed gets the same choice again. A real portal gives another node.
      #expect(kill(Int32(capture), SIGKILL) == 0)
      producer.end()
      try producer.program.finish()
      let next = try world.producer()
      defer { next.end() }
      try portal.program.waitForOutput("restored")
      try waitForPictures(host)
      #expect(portal.program.output.text.components(separatedBy: "dialog").count == 2)
      try framebus("broadcast", "stop")
      #expect(try host.finish().status == .exited(0), "\(host.transcript)")
    }
  }

  @Test func declinedAndEndedSharingEndTheBroadcast() throws {
    try withWatchdog {
      let portal = try world.portal("decline")
      let producer = try world.producer()
      defer { portal.end() }
      let refused = try start().finish()
      #expect(refused.errors.contains("the user declined"), "\(refused)")
      // The user takes their time: the end of the broadcast ends the wait.
      try portal.tell("fault absent-user")
      try portal.program.waitForOutput("done fault absent-user")
      let waiting = try start()
      try waitUntil("the dialog is open") {
        portal.program.output.text.components(separatedBy: "dialog").count == 3
      }
      try framebus("broadcast", "stop")
      #expect(try waiting.finish().status == .exited(0), "\(waiting.transcript)")
      try portal.tell("fault")
      let host = try start()
      try waitForPictures(host)
      // With the sharing, the compositor ends the node.
      try portal.tell("close")
      try portal.program.waitForOutput("done close")
      producer.end()
      let ended = try host.finish()
      #expect(ended.errors.contains("the desktop ended the sharing"), "\(ended.errors)")
    }
  }
}
