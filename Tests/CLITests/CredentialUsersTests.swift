import Foundation
import TestSupport
import Testing

@testable import Platform

/// Roles separated by the kernel: each has its own temporary user.
@Suite(.enabled(if: TestUser.canBeCreated, "users can only be created by root"))
struct CredentialUsersTests {
  private let root: TemporaryRoot
  private let capture: TestUser
  private let uploader: TestUser

  init() throws {
    root = try TemporaryRoot(mode: 0o755)
    capture = try TestUser()
    uploader = try TestUser()
    try succeed("group", "create")
    try succeed("group", "grant", "capture", "--uid", "\(capture.uid)")
    try succeed("group", "grant", "extension", "--uid", "\(uploader.uid)")
  }

  private var location: [String] { ["--root", root.path, "--group", "a.b"] }

  private func succeed(_ arguments: String...) throws {
    let result = try run("framebus", arguments + location)
    guard result.status.isSuccess else { throw HarnessError(result.errors) }
  }

  private func keep(_ text: String, _ options: String) throws {
    let program = try pathOfProgram("framebus")
    try output(
      of: "sh",
      [
        "-c",
        "printf %s '\(text)' | \(program) credential set whip.example.com studio \(options)"
          + " --quiet \(location.joined(separator: " "))",
      ])
  }

  private func get(_ user: TestUser, _ role: String) throws -> ProgramResult {
    try user.run(
      "framebus",
      ["credential", "get", "whip.example.com", "studio", "--role", role] + location)
  }

  private var store: String { root.path + "/state/a.b/credentials" }

  @Test func onlyTheExtensionsUserOpensItsCredential() throws {
    try keep("canary-4711", "--recipient extension")
    let opened = try get(uploader, "extension")
    #expect(opened.output == "canary-4711")
    #expect(opened.errors == "")
    for role in ["extension", "host", "capture"] {
      let refused = try get(capture, role)
      #expect(refused.status == .exited(1), "\(role)")
      #expect(refused.output == "")
      #expect(!refused.errors.contains("canary"))
    }
    #expect(try get(uploader, "host").status == .exited(1))
  }

  /// Reads every file of the store as the capturer's user: each gives ciphertext or `EACCES`.
  @Test func theCapturersUserReadsNoKeyAndNoSecret() throws {
    try keep("canary-4711", "--recipient extension")
    let files = try plainFiles(below: store)
    #expect(files.contains("keys/extension.key") && files.contains("keys/host.key"))
    var readable: Set<String> = []
    for file in files {
      let path = store + "/" + file
      let result = try capture.run("cat", [path])
      if result.status.isSuccess { readable.insert(file) }
      #expect(!result.output.contains("canary-4711"), "\(file)")
      #expect(try !capture.run("sh", ["-c", "echo >> \(path)"]).status.isSuccess, "\(file)")
    }
    #expect(readable.count == 2, "\(readable)")
    #expect(readable.contains("index"))
    #expect(readable.allSatisfy { !$0.hasPrefix("keys/") && !$0.hasPrefix("audit/") })
    #expect(try !capture.run("sh", ["-c", "echo > \(store)/items/x"]).status.isSuccess)
  }

  @Test func listIsReadInTheRoleOfTheUser() throws {
    try keep("canary-4711", "--recipient extension")
    let list = try uploader.run("framebus", ["credential", "list"] + location)
    #expect(list.output == "whip.example.com/studio  extension,host\n", "\(list.errors)")
    let refused = try capture.run("framebus", ["credential", "list", "--role", "host"] + location)
    #expect(refused.errors.contains(" --group a.b --root \(root.path)`"), "\(refused.errors)")
  }

  @Test func nonMembersReadNothing() throws {
    try keep("canary-4711", "--recipient extension")
    let stranger = try TestUser()
    #expect(try !stranger.run("cat", [store + "/index"]).status.isSuccess)
    let refused = try get(stranger, "extension")
    #expect(refused.status == .exited(1))
    #expect(refused.errors.contains("is not a member of the group a.b"))
  }

  @Test func laterHolderOfTheRoleOpensAfterTheHostsNextChange() throws {
    try keep("canary-4711", "--recipient extension")
    let second = try TestUser()
    try succeed("group", "grant", "extension", "--uid", "\(second.uid)")
    try keep("canary-4712", "--recipient extension")
    #expect(try get(second, "extension").output == "canary-4712")
    #expect(try get(uploader, "extension").output == "canary-4712")
  }

  @Test func hostReadsTheExtensionsLogAndItsUserCannotForgeIt() throws {
    try keep("canary-4711", "--recipient extension")
    _ = try get(uploader, "extension")
    let audit = try run("framebus", ["credential", "audit"] + location)
    #expect(audit.status == .exited(0), "\(audit.errors)")
    #expect(audit.output.contains("extension  get  whip.example.com/studio  done"))
    #expect(audit.output.contains("uid \(uploader.uid)"))
    try output(
      of: "sh", ["-c", "head -c 512 /dev/zero >> \(store)/audit/extension.chain"])
    let forged = try run("framebus", ["credential", "audit"] + location)
    #expect(forged.status == .exited(1))
    #expect(forged.errors.contains("extension.chain, record 2"))
  }
  @Test func onlyAHandedOverKeyOpensForTheExtensionsUser() throws {
    try keep("canary-4711", "--recipient extension")
    try succeed("credential", "protect", "--role", "extension", "--hand-over")
    let alone = try get(uploader, "extension")
    #expect(alone.status == .exited(1))
    #expect(alone.errors.contains("handed over by the host only"))
    func handedOver(to user: TestUser) throws -> ProgramResult {
      try run(
        "framebus",
        ["credential", "run"] + location + ["--"]
          + user.command("framebus", ["credential", "get", "whip.example.com", "studio"]))
    }
    let opened = try handedOver(to: uploader)
    #expect(opened.output == "canary-4711", "\(opened.errors)")
    // The key is not enough: the user must also hold the role.
    let refused = try handedOver(to: capture)
    #expect(refused.status == .exited(1))
    #expect(refused.output == "")
    #expect(refused.errors.contains("does not hold the role extension"), "\(refused.errors)")
  }
}
