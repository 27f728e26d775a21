import AppGroup
import Foundation
import FrameBus
import Platform
import TestSupport
import Testing

/// `framebus streams` and `framebus top` with sockets of members that are not streams.
@Suite(.serialized) struct CrowdedStreamsTests {
  private struct Named: Decodable {
    let name: String
    let state: String
  }

  private struct Poll: Decodable {
    let streams: [Named]
    let unasked: Int?
  }

  /// A group in which another user may publish, and a stream in it.
  private struct Square {
    let root: TemporaryRoot
    let group: AppGroup
    let user: TestUser
    let worker: RunningProgram

    init() throws {
      root = try TemporaryRoot(mode: 0o755)
      user = try TestUser()
      let id = try GroupID("org.example.crowd")
      _ = try AppGroup.create(id, root: root.path)
      try AppGroup.grant(.capture, to: .user(user.uid), in: id, root: root.path)
      group = try AppGroup.open(id, root: root.path)
      worker = try RunningProgram(
        "BusWorker", ["publish", root.path, id.description, "screen"])
      try worker.waitForOutput("publishing")
    }

    /// Starts `framebus` with a soft and a hard limit on descriptors.
    func start(soft: Int, hard: Int, _ arguments: String...) throws -> RunningProgram {
      let limits = "ulimit -Sn \(soft); ulimit -Hn \(hard); exec \"$@\""
      return try RunningProgram(
        "sh", ["-c", limits, "sh", try pathOfProgram("framebus")] + arguments,
        environment: [
          "FRAMEBUS_HOME": root.path, "FRAMEBUS_GROUP": group.id.description,
        ])
    }
  }

  private func hostilePeer(
    _ role: String, in group: AppGroup, _ arguments: String...
  ) throws -> RunningProgram {
    let path = "\(group.streamsPath)/screen.sock"
    let peer = try RunningProgram(
      "/usr/bin/python3", [tool("hostile_peer.py"), role, path] + arguments)
    try peer.waitForOutput("ready")
    return peer
  }

  @Test(
    .enabled(if: TestUser.canBeCreated, "users can only be created by root"),
    arguments: [(64, 64), (256, 4096)])
  func socketsOfAnotherUserHideNoStream(soft: Int, hard: Int) throws {
    let square = try Square()
    let peer = try hostilePeer(
      "crowd_of_sockets", in: square.group, "2000", "\(square.user.uid)")
    let result = try square.start(soft: soft, hard: hard, "streams", "--json").finish()
    let named = try JSONDecoder().decode([Named].self, from: Data(result.output.utf8))
    #expect(named.first?.name == "screen")
    #expect(named.first?.state == "live")
    #expect(result.errors.contains("not asked"), "\(result.errors)")
    #expect(result.status == .exited(1))

    let top = try square.start(
      soft: soft, hard: hard, "top", "--json", "--count", "2", "--interval", "1")
    let polls = try top.finish()
    #expect(polls.status.isSuccess, "\(polls.errors)")
    for line in polls.output.split(separator: "\n") {
      let poll = try JSONDecoder().decode(Poll.self, from: Data(line.utf8))
      #expect(poll.streams.first?.name == "screen")
      #expect(poll.streams.first?.state == "live")
      #expect(poll.unasked ?? 0 > 0)
    }
    withExtendedLifetime(peer) {}
  }

  /// The user's own sockets are queried in turn: each poll begins where the last one ended, however
  /// few it reaches.
  @Test(arguments: [64, 4096])
  func streamBehindTooManySocketsIsFoundByALaterPoll(descriptors: Int) throws {
    let studio = try Studio()
    let worker = try studio.worker()
    let count = descriptors == 64 ? "300" : "2000"
    let peer = try hostilePeer(
      "crowd_of_sockets", in: studio.group, count, "\(currentUserID())")
    let top = try RunningProgram(
      "sh",
      ["-c", "ulimit -Sn \(descriptors); ulimit -Hn \(descriptors); exec \"$@\"", "sh"]
        + [try pathOfProgram("framebus"), "top", "--interval", "0.1"],
      environment: ["FRAMEBUS_HOME": studio.root.path, "FRAMEBUS_GROUP": nil])
    try top.waitForOutput("screen  live")
    #expect(try top.end(with: SIGINT).status == .exited(130))
    withExtendedLifetime((worker, peer)) {}
  }

  @Test func misbehavingPublishersHideNoStream() throws {
    let studio = try Studio()
    let worker = try studio.worker()
    let subscriber = try RunningProgram(
      "BusWorker", ["subscribe", studio.root.path, GroupID.local.description, "screen"])
    let peer = try hostilePeer("bad_answers", in: studio.group)
    try waitUntil("the stream and its subscriber are listed") {
      let result = try studio.start(["streams"]).finish()
      #expect(result.status.isSuccess, "\(result.errors)")
      for name in ["a-silent", "b-bytes", "c-long"] {
        #expect(result.output.contains("\(name)  not answering"), "\(result.output)")
      }
      #expect(result.output.hasPrefix("screen  live") || result.output.contains("\nscreen  live"))
      return result.output.contains("pid \(subscriber.processID)")
    }
    withExtendedLifetime((worker, peer)) {}
  }
}
