import Foundation
import TestSupport
import Testing

@testable import Platform

/// Permissions of semaphores, tested by processes of users created for the test.
@Suite(.enabled(if: TestUser.canBeCreated, "users can only be created by root"))
struct SemaphoreUsersTests {
  private let root: TemporaryRoot
  private let capture: TestUser
  private let viewer: TestUser

  init() throws {
    root = try TemporaryRoot(mode: 0o755)
    capture = try TestUser()
    viewer = try TestUser()
    try run("framebus", location("group", "create")).requireSuccess()
    try run("framebus", location("group", "grant", "capture", "--uid", "\(capture.uid)"))
      .requireSuccess()
    try run("framebus", location("group", "grant", "viewer", "--uid", "\(viewer.uid)"))
      .requireSuccess()
  }

  private func location(_ arguments: String...) -> [String] {
    arguments + ["--root", root.path, "--group", "a.b"]
  }

  private func semaphore(_ user: TestUser?, _ arguments: String...) throws -> ProgramResult {
    let all = ["semaphore"] + arguments + ["--root", root.path, "--group", "a.b"]
    return try user.map { try $0.run("framebus", all) } ?? run("framebus", all)
  }

  @Test func publishersCreateSemaphoresAndMembersUseThem() throws {
    for options in ["--value=1", "--recover"] {
      try semaphore(capture, "create", "gate", options).requireSuccess()
      try semaphore(viewer, "wait", "gate").requireSuccess()
      #expect(try semaphore(nil, "try", "gate").status == .exited(1))
      try semaphore(viewer, "post", "gate").requireSuccess()
      try semaphore(nil, "try", "gate").requireSuccess()
      try semaphore(capture, "remove", "gate").requireSuccess()
    }
  }

  @Test func subscriberCannotCreateOrRemoveSemaphores() throws {
    try semaphore(capture, "create", "gate").requireSuccess()
    let created = try semaphore(viewer, "create", "other")
    #expect(created.status == .exited(1))
    #expect(created.errors.contains("hosts, captures and extensions create semaphores"))
    let removed = try semaphore(viewer, "remove", "gate")
    #expect(removed.status == .exited(1))
    #expect(removed.errors.contains("their creator or the group's owner removes them"))
    try semaphore(nil, "remove", "gate").requireSuccess()
  }

  @Test func memberCannotRemoveAnothersSemaphore() throws {
    let host = try TestUser()
    try run("framebus", location("group", "grant", "host", "--uid", "\(host.uid)")).requireSuccess()
    try semaphore(capture, "create", "gate").requireSuccess()
    #expect(try semaphore(host, "remove", "gate").status == .exited(1))
    try semaphore(host, "wait", "gate").requireSuccess()
  }

  @Test func semaphoreCreatedByRootBelongsToTheGroupOwner() throws {
    let own = try TemporaryRoot(mode: 0o755)
    try output(of: "chown", [capture.name, own.path])
    let location = ["a.b", "--root", own.path]
    try capture.run("framebus", ["group", "create"] + location).requireSuccess()
    let arguments = ["--root", own.path, "--group", "a.b"]
    try capture.run("framebus", ["group", "grant", "host", "--uid", "0"] + location)
      .requireSuccess()
    try run("framebus", ["semaphore", "create", "gate"] + arguments).requireSuccess()
    try capture.run("framebus", ["semaphore", "wait", "gate"] + arguments).requireSuccess()
    try capture.run("framebus", ["semaphore", "remove", "gate"] + arguments).requireSuccess()
  }

  @Test func nonmembersHaveNoAccess() throws {
    try semaphore(capture, "create", "gate").requireSuccess()
    let stranger = try TestUser()
    #expect(try semaphore(stranger, "wait", "gate").status == .exited(1))
    let file = root.file("run/a.b/semaphores/gate.semaphore")
    #expect(try stranger.run("cat", [file]).status != .exited(0))
    #expect(try output(of: "stat", ["--format=%a", file]) == "660\n")
  }

  @Test func deathOfAnotherUsersHolderIsNoticed() throws {
    try semaphore(capture, "create", "gate", "--recover").requireSuccess()
    let holder = try capture.start(
      "framebus",
      ["semaphore", "wait", "gate", "--root", root.path, "--group", "a.b", "--"]
        + ["sh", "-c", "echo $$.; exec sleep 600"])
    try holder.waitForOutput(".")
    let command = try #require(Int32(holder.output.text.prefix { $0.isNumber }))
    #expect(try semaphore(viewer, "try", "gate").status == .exited(1))
    try holder.end(with: SIGKILL)
    ProcessWatch(command)?.send(signal: SIGKILL)
    try semaphore(viewer, "wait", "gate", "--timeout", "60").requireSuccess()
  }
}
