import Foundation
import TestSupport
import Testing

@testable import Platform

/// Without inotify instances or watches, because another process of the user took them all or a
/// filter forbids them, changes are still seen.
@Suite(.enabled(if: TestUser.canBeCreated, "users can only be created by root"))
struct WatchShortageTests {
  private let root: TemporaryRoot
  private let user: TestUser

  init() throws {
    root = try TemporaryRoot(mode: 0o755)
    user = try TestUser()
    try output(of: "chown", [user.name, root.path])
    try user.run("framebus", ["group", "create"] + location).requireSuccess()
  }

  private var location: [String] { ["--root", root.path, "--group", "a.b"] }

  private func framebus(_ arguments: String...) throws -> ProgramResult {
    try user.run("framebus", arguments + location)
  }

  /// Starts a process that takes all of this user's inotify instances.
  private func thief() throws -> RunningProgram {
    let thief = try user.start("HostileMember", ["watches", "-"])
    try thief.waitForOutput("ready")
    return thief
  }

  private static let note = "changes are looked for once a second;"

  @Test func changesAreSeenWithoutInotifyInstances() throws {
    try withWatchdog {
      let thief = try thief()
      let watch = try user.start("framebus", ["defaults", "watch", "s", "--count", "2"] + location)
      try watch.waitForErrors("watching s\n")
      try framebus("defaults", "write", "s", "first", "1").requireSuccess()
      try watch.waitForOutput("first")
      try framebus("defaults", "write", "s", "second", "2").requireSuccess()
      let watched = try watch.finish()
      #expect(watched.status == .exited(0))
      #expect(watched.output == "first  \"1\"\nsecond  \"2\"\n")
      #expect(watched.errors.components(separatedBy: Self.note).count == 2, "\(watched.errors)")

      try framebus("log", "append", "early").requireSuccess()
      let log = try user.start("framebus", ["log", "--follow"] + location)
      try log.waitForOutput("early\n")
      try framebus("log", "append", "late").requireSuccess()
      try log.waitForOutput("late\n")
      #expect(try log.end(with: SIGINT).status == .exited(130))
      #expect(log.errors.text.components(separatedBy: Self.note).count == 2)
      try thief.end(with: SIGKILL)
    }
  }

  @Test func broadcastRunsWithoutInotifyInstances() throws {
    try withWatchdog {
      let thief = try thief()
      try framebus("extension", "register", "--builtin", "null").requireSuccess()
      let host = try user.start(
        "framebus",
        [
          "broadcast", "start", "framebus.upload", "--yes", "--source", "test:gradient", "--size",
          "64x48",
        ]
          + location)
      try waitUntil("it is live: \(host.transcript)") {
        try framebus("broadcast", "status").output.contains("live")
      }
      let stopped = try framebus("broadcast", "stop")
      #expect(stopped.errors.contains(" finished"), "\(stopped.errors)")
      #expect(try host.finish().status == .exited(0), "\(host.transcript)")
      try thief.end(with: SIGKILL)
    }
  }

  /// Watches a setting in a group of this test's user, by a command before `framebus`.
  private func watchAfter(_ command: String, _ arguments: [String]) throws {
    let root = try TemporaryRoot()
    let location = ["--root", root.path, "--group", "a.b"]
    try run("framebus", ["group", "create"] + location).requireSuccess()
    let framebus = try pathOfProgram("framebus")
    try withWatchdog {
      let watch = try RunningProgram(
        command, arguments + [framebus, "defaults", "watch", "s", "--count", "1"] + location)
      try watch.waitForErrors("watching s\n")
      try run(framebus, ["defaults", "write", "s", "k", "1"] + location).requireSuccess()
      #expect(try watch.finish().output == "k  \"1\"\n", "\(watch.transcript)")
      #expect(watch.errors.text.contains(Self.note))
    }
  }

  /// A user namespace has its own limits, which affect no other process.
  @Test(arguments: ["max_inotify_watches", "max_inotify_instances"])
  func changesAreSeenWithAnInotifyLimitOfZero(_ limit: String) throws {
    let script = "echo 0 > /proc/sys/user/\(limit) && exec \"$0\" \"$@\""
    try watchAfter("unshare", ["--user", "--map-root-user", "sh", "-c", script])
  }

  @Test(arguments: ["instances", "watches"])
  func changesAreSeenWhereAFilterForbidsInotify(_ forbidden: String) throws {
    try watchAfter("python3", [tool("forbid_calls.py"), forbidden])
  }
}
