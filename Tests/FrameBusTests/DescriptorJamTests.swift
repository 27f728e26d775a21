import AppGroup
import CFrameLayout
import Foundation
import Platform
import TestSupport
import Testing

@testable import FrameBus

/// A user's descriptors on their way between processes are limited (`unix(7)`, ETOOMANYREFS): a
/// program that sends many and receives none keeps all others of its user from sending any.
@Suite(.enabled(if: TestUser.canBeCreated, "users can only be created by root"))
struct DescriptorJamTests {
  @Test func descriptorsOnTheirWayDelayASubscriberOnly() throws {
    let root = try TemporaryRoot(mode: 0o755)
    let user = try TestUser()
    let id = try GroupID("org.example.jam")
    _ = try AppGroup.create(id, root: root.path)
    try AppGroup.grant(.capture, to: .user(user.uid), in: id, root: root.path)
    let group = try AppGroup.open(id, root: root.path)
    let stream = try StreamName("screen")
    let command = try user.command(
      "BusWorker", ["publish", root.path, id.description, stream.text])
    let publisher = try RunningProgram(
      "sh", ["-c", "ulimit -n 40; exec \"$@\"", "sh"] + command, directory: "/")
    try publisher.waitForOutput("publishing")
    let path = "\(group.streamsPath)/\(stream).sock"
    let peer = try RunningProgram(
      "/usr/bin/python3", [tool("hostile_peer.py"), "jam", path, "\(user.uid)"])
    try peer.waitForOutput("ready")
    #expect(try isRefused(at: path))

    let arrivals = Channel<String>()
    try startThread(named: "subscriber") {
      do {
        let subscriber = try Subscriber(stream, in: group)
        arrivals.send("holds \(subscriber.grantedHolds)")
      } catch { arrivals.send("\(error)") }
    }
    // Long enough for it to have been refused too.
    for _ in 1...50 { #expect(try isRefused(at: path)) }
    try peer.end(with: SIGKILL)
    #expect(try arrivals.receive() == "holds 1")
    withExtendedLifetime(publisher) {}
  }

  /// Whether a subscriber is refused because the publisher cannot send it descriptors.
  private func isRefused(at path: String) throws -> Bool {
    let socket = try MessageSocket.connect(to: path)
    guard socket.send(SubscriberOptions().hello) == .sent,
      socket.waitUntilReadable(until: .after(.seconds(30))),
      let message = try Message(from: socket),
      let refusal = message.record(fb_refusal(), kind: Int(FB_MESSAGE_REFUSED))
    else { return false }
    return refusal.reason == UInt32(FB_REFUSED_RESOURCES)
  }
}
