import AppGroup
import NotifyCenter
import Platform
import TestSupport
import Testing

@testable import Broadcast

/// The notifications of a broadcast's start, pauses and end, for programs that need no state.
@Suite struct PlainNotificationTests {
  private let scene: BroadcastScene
  private let center: NotifyCenter

  init() throws {
    scene = try BroadcastScene()
    center = try NotifyCenter(scene.group, role: .host)
  }

  /// Waits until the four notifications have been posted this often, and never more often.
  private func waitForPosts(started: Int, paused: Int, resumed: Int, finished: Int) throws {
    let expected = [started, paused, resumed, finished].map(UInt64.init)
    let names = try [
      BroadcastNames.started, BroadcastNames.paused, BroadcastNames.resumed,
      BroadcastNames.finished,
    ].map { try NotificationName($0) }
    var posts: [UInt64] = []
    try waitUntil("\(expected) posts, not \(posts), \(scene.events.all)") {
      posts = try names.map { try center.generation(of: $0) }
      if zip(posts, expected).contains(where: { $0 > $1 }) {
        throw HarnessError("\(posts) posts instead of \(expected), \(scene.events.all)")
      }
      return posts == expected
    }
  }

  @Test func eachChangeIsPostedOnce() throws {
    try withWatchdog {
      let session = try scene.start()
      try scene.waitForTrace(["started 1", "video"])
      try waitForPosts(started: 1, paused: 0, resumed: 0, finished: 0)
      try scene.controller.pause()
      try waitForPosts(started: 1, paused: 1, resumed: 0, finished: 0)
      try scene.controller.resume()
      try waitForPosts(started: 1, paused: 1, resumed: 1, finished: 0)
      #expect(try scene.finish(session) == .finished)
      try waitForPosts(started: 1, paused: 1, resumed: 1, finished: 1)
      let watch = try RunningProgram(
        "framebus",
        [
          "notify", "check", "broadcastFinished", "--root", scene.root.path, "--group",
          "\(scene.group.id)",
        ])
      #expect(try watch.finish().output == "1\n")
    }
  }

  @Test func pauseWhileConnectingIsPostedOnceToo() throws {
    try withWatchdog {
      try scene.register(["connecting=the server is busy"])
      let session = try scene.start()
      try scene.events.wait(for: .connecting(failure: "the server is busy"))
      try scene.controller.pause()
      try waitForPosts(started: 1, paused: 1, resumed: 0, finished: 0)
      try scene.controller.resume()
      try waitForPosts(started: 1, paused: 1, resumed: 1, finished: 0)
      #expect(try scene.finish(session) == .finished)
      try waitForPosts(started: 1, paused: 1, resumed: 1, finished: 1)
    }
  }

  /// All paths of four records, of two sessions in every phase, or missing.
  @Test func postsOfEveryPathOfRecordsAreBalanced() {
    let phases: [BroadcastPhase] = [.idle, .starting, .connecting, .live, .paused, .finished]
    let sessions = [SessionID(), SessionID()]
    let worlds: [BroadcastRecord?] =
      [nil]
      + sessions.flatMap { session in
        phases.map { phase in
          var record = BroadcastRecord(
            session: session, extensionID: "a", source: "b", stream: "screen")
          record.phase = phase
          return record
        }
      }
    for first in worlds {
      for second in worlds {
        for third in worlds {
          let path = [first, second, third, nil]
          if let problem = problem(of: path) { Issue.record("\(problem)") }
        }
      }
    }
  }

  /// - Returns: what an observer of the posts would get wrong.
  private func problem(of path: [BroadcastRecord?]) -> String? {
    var before: BroadcastRecord?
    var isStarted = false
    var isPaused = false
    for record in path {
      for event in BroadcastNames.events(from: before, to: record) {
        switch event {
        case BroadcastNames.started where !isStarted: isStarted = true
        case BroadcastNames.finished where isStarted: (isStarted, isPaused) = (false, false)
        case BroadcastNames.paused where isStarted && !isPaused: isPaused = true
        case BroadcastNames.resumed where isPaused: isPaused = false
        default: return "\(event) of \(path.map { $0?.phase.rawValue ?? "none" })"
        }
      }
      if isStarted != (record?.phase.isActive == true) || isPaused != (record?.phase == .paused) {
        return "a post is missing of \(path.map { $0?.phase.rawValue ?? "none" })"
      }
      before = record
    }
    return nil
  }

  @Test func lostCaptureIsAPauseAndBroadcastThatFailsIsFinished() throws {
    try withWatchdog {
      let session = try scene.start()
      try scene.waitForTrace(["started 1", "video"])
      try scene.kill(.capture)
      try waitForPosts(started: 1, paused: 1, resumed: 1, finished: 0)
      #expect(try scene.finish(session) == .finished)
      try scene.register(["fail=signIn"])
      let failed = try scene.start()
      _ = try scene.controller.waitForEnding(of: failed)
      try waitForPosts(started: 2, paused: 1, resumed: 1, finished: 2)
    }
  }

  @Test func broadcastWhoseProcessesAllDiedFinishesWithTheNextStart() throws {
    try withWatchdog {
      let host = try scene.hostProcess()
      try scene.waitForTrace(["started 1", "video"])
      _ = try host.end(with: Signal.kill)
      for role in [Role.extension, .capture] { try scene.kill(role) }
      try waitForPosts(started: 1, paused: 0, resumed: 0, finished: 0)
      let session = try scene.start()
      try waitForPosts(started: 2, paused: 0, resumed: 0, finished: 1)
      #expect(try scene.finish(session) == .finished)
    }
  }
}
