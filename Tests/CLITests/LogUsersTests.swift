import Foundation
import TestSupport
import Testing

@testable import Platform

/// The log between users: every member reads all of it, and writes only its own.
@Suite(.enabled(if: TestUser.canBeCreated, "only root can make users; it needs useradd"))
struct LogUsersTests {
  private let root: TemporaryRoot
  private let extensionUser: TestUser
  private let stranger: TestUser

  init() throws {
    root = try TemporaryRoot(mode: 0o755)
    extensionUser = try TestUser()
    stranger = try TestUser()
    try framebus("group", "create", "a.b").requireSuccess()
    try framebus("group", "grant", "extension", "--uid", "\(extensionUser.uid)").requireSuccess()
  }

  private func framebus(_ arguments: String...) throws -> ProgramResult {
    try run("framebus", ["--root", root.path, "--group", "a.b"] + arguments)
  }

  private func framebus(as user: TestUser, _ arguments: String...) throws -> ProgramResult {
    try user.run("framebus", ["--root", root.path, "--group", "a.b"] + arguments)
  }

  @Test func hostAndExtensionReadEachOthersLogs() throws {
    try framebus(as: extensionUser, "log", "append", "from the extension").requireSuccess()
    try framebus("log", "append", "from the host").requireSuccess()
    for output in [
      try framebus("log").output, try framebus(as: extensionUser, "log").output,
    ] {
      let lines = output.split(separator: "\n")
      try #require(lines.count == 2)
      #expect(lines[0].contains(" extension[") && lines[0].hasSuffix("] from the extension"))
      #expect(lines[1].contains(" host[") && lines[1].hasSuffix("] from the host"))
    }
  }

  @Test func nonMemberNeitherReadsNorWrites() throws {
    for arguments in [["log"], ["log", "append", "x"]] {
      let result = try stranger.run(
        "framebus", ["--root", root.path, "--group", "a.b"] + arguments)
      #expect(result.status == .exited(1))
      #expect(result.errors.contains("is not a member of the group a.b"))
      #expect(result.output == "")
    }
    let logs = root.path + "/state/a.b/logs"
    #expect(try !stranger.run("ls", [logs]).status.isSuccess)
  }

  @Test func forbiddenRoleIsRefusedAndAClaimedOneIsMarked() throws {
    let refused = try framebus(as: extensionUser, "log", "append", "x", "--role", "host")
    #expect(refused.status == .exited(1))
    #expect(refused.errors.contains("does not hold the role host"))
    // A file that claims the role anyway, under the name of a host's run.
    try framebus("log", "append", "true").requireSuccess()
    let logs = root.path + "/state/a.b/logs"
    let name = try #require(try FileManager.default.contentsOfDirectory(atPath: logs).first)
    let bytes = try Data(contentsOf: URL(fileURLWithPath: logs + "/" + name))
    let stolen = name.replacing(".000001.", with: ".000002.")
    #expect(FileManager.default.createFile(atPath: logs + "/" + stolen, contents: bytes))
    try output(of: "chown", ["\(extensionUser.uid)", logs + "/" + stolen])
    let lines = try framebus("log").output.split(separator: "\n")
    try #require(lines.count == 2)
    #expect(lines.count { $0.contains(" host[") } == 1)
    #expect(lines.count { $0.contains(" host?[") } == 1)
  }

  @Test func memberCannotRemoveAnothersFile() throws {
    try framebus("log", "append", "x").requireSuccess()
    let logs = root.path + "/state/a.b/logs"
    let name = try #require(try FileManager.default.contentsOfDirectory(atPath: logs).first)
    #expect(try !extensionUser.run("rm", ["-f", logs + "/" + name]).status.isSuccess)
    #expect(try !extensionUser.run("sh", ["-c", "echo >> \(logs)/\(name)"]).status.isSuccess)
  }
}
