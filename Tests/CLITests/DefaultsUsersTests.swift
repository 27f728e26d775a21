import Foundation
import TestSupport
import Testing

@testable import Platform

/// Permissions of suites, tested with processes of temporary users.
@Suite(.enabled(if: TestUser.canBeCreated, "users can only be created by root"))
struct DefaultsUsersTests {
  private let root: TemporaryRoot
  private let host: TestUser

  /// A group whose owner is not root.
  init() throws {
    root = try TemporaryRoot(mode: 0o755)
    host = try TestUser()
    try output(of: "chown", [host.name, root.path])
    #expect(try host.run("framebus", ["group", "create"] + location).status.isSuccess)
  }

  private var location: [String] { ["--root", root.path, "--group", "a.b"] }

  private func grant(_ role: String, _ user: TestUser) throws {
    let result = try host.run(
      "framebus", ["group", "grant", role, "--uid", "\(user.uid)"] + location)
    #expect(result.status.isSuccess)
    #expect(!result.errors.contains("warning"), "\(result.errors)")
  }

  private func defaults(_ user: TestUser?, _ arguments: String...) throws -> ProgramResult {
    let all = ["defaults"] + arguments + location
    return try user.map { try $0.run("framebus", all) } ?? run("framebus", all)
  }

  @Test func publishingMembersWriteAndOtherMembersRead() throws {
    let capture = try TestUser()
    let viewer = try TestUser()
    #expect(try defaults(host, "write", "s", "first", "1").status.isSuccess)
    // Granted after the file was created.
    try grant("capture", capture)
    try grant("viewer", viewer)
    #expect(try defaults(capture, "read", "s", "first").output == "1\n")
    #expect(try defaults(capture, "write", "s", "second", "2").status.isSuccess)
    #expect(try defaults(viewer, "read", "s", "second").output == "2\n")
    let refused = try defaults(viewer, "write", "s", "third", "3")
    #expect(refused.status == .exited(1))
    #expect(refused.errors.contains("members may read settings, and the roles host, capture and"))
    let made = try defaults(viewer, "write", "new", "a", "1")
    #expect(made.status == .exited(1))
    #expect(made.errors.contains("no permission for"))
    #expect(try defaults(host, "read", "s", "third").status == .exited(1))
  }

  @Test func suiteOfOneMemberIsWritableByOthers() throws {
    let capture = try TestUser()
    let `extension` = try TestUser()
    try grant("capture", capture)
    try grant("extension", `extension`)
    #expect(try defaults(capture, "write", "s", "a", "1").status.isSuccess)
    #expect(try defaults(host, "write", "s", "b", "2").status.isSuccess)
    #expect(try defaults(`extension`, "write", "s", "c", "3").status.isSuccess)
    // A later member can use a file that a member, not the group's owner, created.
    let late = try TestUser()
    try grant("viewer", late)
    #expect(try defaults(late, "read", "s").output == "a  \"1\"\nb  \"2\"\nc  \"3\"\n")
    // Long enough that each replaces another's file.
    let long = String(repeating: "x", count: 70_000)
    for user in [capture, host, `extension`] {
      #expect(try defaults(user, "write", "s", user.name, long).status.isSuccess)
    }
    #expect(try defaults(late, "read", "s", host.name).output == long + "\n")
    #expect(try defaults(`extension`, "remove", "s").status.isSuccess)
  }

  @Test func ownerCanUseFilesThatRootWrites() throws {
    #expect(
      try host.run("framebus", ["group", "grant", "host", "--uid", "0"] + location).status.isSuccess
    )
    #expect(try defaults(nil, "write", "s", "a", "1").status.isSuccess)
    #expect(try defaults(host, "write", "s", "a", "2").status.isSuccess)
    #expect(try defaults(nil, "read", "s", "a").output == "2\n")
  }

  @Test func nonMembersHaveNoAccess() throws {
    #expect(try defaults(host, "write", "s", "a", "1").status.isSuccess)
    let stranger = try TestUser()
    let refused = try defaults(stranger, "read", "s", "a")
    #expect(refused.status == .exited(1))
    #expect(refused.errors.contains("is not a member of the group a.b"))
    let file = root.file("state/a.b/defaults/s.suite")
    #expect(try stranger.run("cat", [file]).status != .exited(0))
  }
}
