import AppGroup
import Foundation
import FrameBus
import Platform
import TestSupport
import Testing

/// A publishing member can create any file beside the streams' sockets, including a link to a
/// socket of another group that the subscriber can reach.
@Suite struct StreamLinkTests {
  @Test(
    .enabled(if: TestUser.canBeCreated, "users can only be created by root"),
    arguments: ["screen", "missing"])
  func symbolicLinkLeadsToNoOtherGroup(stream: String) throws {
    let root = try TemporaryRoot(mode: 0o755)
    let user = try TestUser()
    let (id, other) = (try GroupID("org.example.open"), try GroupID("org.example.private"))
    _ = try AppGroup.create(id, root: root.path)
    try AppGroup.grant(.capture, to: .user(user.uid), in: id, root: root.path)
    let closed = try AppGroup.create(other, root: root.path)
    let publisher = try RunningProgram(
      "BusWorker", ["publish", root.path, other.description, "screen"])
    try publisher.waitForOutput("publishing")
    let group = try AppGroup.open(id, root: root.path)
    let target = "\(closed.streamsPath)/\(stream).sock"
    let made = try user.run("/bin/ln", ["-s", target, "\(group.streamsPath)/screen.sock"])
    #expect(made.status.isSuccess, "\(made.errors)")
    try expectUntrusted(try StreamName("screen"), in: group)
    withExtendedLifetime(publisher) {}
  }

  @Test(arguments: ["ln PATH.other PATH.sock", "mkfifo PATH.sock", "mkdir PATH.sock"])
  func onlySocketOfOneNameIsAStream(_ command: String) throws {
    let world = try World()
    let publisher = try world.worker("publish")
    try publisher.waitForOutput("publishing")
    let path = "\(world.group.streamsPath)/\(world.stream)"
    let line = "mv PATH.sock PATH.other; \(command)"
    try output(of: "sh", ["-c", line.replacingOccurrences(of: "PATH", with: path)])
    try expectUntrusted(world.stream, in: world.group)
  }

  private func expectUntrusted(_ stream: StreamName, in group: AppGroup) throws {
    let path = "\(group.streamsPath)/\(stream).sock"
    #expect(throws: SubscriberError.untrusted(stream, "\(path) is a link, or not a socket")) {
      _ = try Subscriber(stream, in: group)
    }
    #expect(try StreamInspector(group).poll().isEmpty)
  }
}
