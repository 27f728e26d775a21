import AppGroup
import CFrameLayout
import Foundation
import Platform
import TestSupport
import Testing

@testable import FrameBus

/// The application of a stream, named by another process than its publisher's.
@Suite struct RemoteAnnotationTests {
  private func set(_ text: String, in world: World) throws -> Bool {
    StreamAnnotation.set(
      try #require(ApplicationID(text)), of: world.stream, in: world.group,
      until: .after(.seconds(60)))
  }

  @Test func hostNamesTheApplicationOfAnotherProcess() throws {
    let world = try World()
    #expect(try !set("nobody", in: world))
    let publisher = try world.worker("publish", "application=Firefox")
    try publisher.waitForOutput("publishing")
    let subscriber = try world.worker("subscribe")
    try subscriber.waitForOutput("event annotated Firefox")
    #expect(try set("org.example.game", in: world))
    try subscriber.waitForOutput("event annotated org.example.game")
    #expect(try listStreams(in: world.group).first?.application?.text == "org.example.game")
    _ = try publisher.end(with: SIGKILL)
    #expect(try !set("nobody", in: world))
    _ = try subscriber.end(with: SIGKILL)
  }

  @Test func nameThatCannotBeShownBreaksTheProtocol() throws {
    let world = try World()
    let publisher = try world.publisher()
    publisher.annotation.application = ApplicationID("Firefox")
    let socket = try MessageSocket.connect(to: world.group.endpoint(of: world.stream).socketPath)
    var message = fb_annotation(nil)
    message.header = fb_message_header(Int(FB_MESSAGE_ANNOTATE))
    // SAFETY: the bytes written are fewer than the field's.
    unsafe withUnsafeMutableBytes(of: &message.application) {
      unsafe $0.copyBytes(from: [0x61, 0x1b, 0x5b])
    }
    let isSent = socket.send(message) == .sent
    #expect(isSent)
    let isAnswered = socket.waitUntilReadable(until: .after(.seconds(60)))
    #expect(isAnswered)
    let isEnd = try Message(from: socket)?.isEmpty
    #expect(isEnd == true)
    let status = try listStreams(in: world.group).first
    #expect(status?.application?.text == "Firefox" && status?.rejected == 1)
    withExtendedLifetime(publisher.subscriberCount) {}
  }

  @Test(.enabled(if: TestUser.canBeCreated, "users can only be created by root"))
  func onlyAHostNamesIt() throws {
    let root = try TemporaryRoot(mode: 0o755)
    let (host, viewer) = (try TestUser(), try TestUser())
    let id = try GroupID(World.groupName)
    _ = try AppGroup.create(id, root: root.path)
    try AppGroup.grant(.host, to: .user(host.uid), in: id, root: root.path)
    try AppGroup.grant(.extension, to: .user(viewer.uid), in: id, root: root.path)
    let words = [root.path, World.groupName, "screen"]
    let publisher = try RunningProgram("BusWorker", ["publish"] + words)
    try publisher.waitForOutput("publishing")
    let group = try AppGroup.open(id, root: root.path)
    for (user, name, expected) in [(viewer, "b", "refused"), (host, "a", "taken")] {
      let worker = try user.start("BusWorker", ["annotate"] + words + ["application=\(name)"])
      #expect(try worker.finish().output == "\(expected)\n", "\(worker.transcript)")
      let listed = try listStreams(in: group).first?.application?.text
      #expect(listed == (user === host ? "a" : nil))
    }
    _ = try publisher.end(with: SIGKILL)
  }
}
