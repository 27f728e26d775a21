import Foundation
import TestSupport
import Testing

@testable import CredentialStore
@testable import Platform

/// Keys that are kept unlocked in the kernel's keyring.
@Suite(.enabled(if: UserKeyring.refusal == nil, "the kernel's keyring is unavailable"))
struct UnlockTests {
  private let world: CredentialWorld

  init() throws {
    world = try CredentialWorld(passphrase: "horse")
    try world.addShared()
  }

  private func framebus(_ verb: String, _ arguments: String...) throws -> ProgramResult {
    try run("framebus", command(verb, arguments))
  }

  private func command(_ verb: String, _ arguments: [String]) -> [String] {
    ["credential", verb] + arguments
      + ["--root", world.root.path, "--group", CredentialWorld.groupName]
  }

  private func get() throws -> ProgramResult { try framebus("get", "whip.example.com", "studio") }

  /// Unlocks with the given passphrase.
  private func unlock(_ arguments: String..., with text: String = "horse") throws -> ProgramResult {
    let pipe = try OneWayPipe()
    try writeFully(Array(text.utf8), to: pipe.writeEnd.number)
    let number = try pipe.readEnd.duplicate()
    _ = pipe.takeWriteEnd()
    return try RunningProgram(
      "framebus", command("unlock", arguments + ["--passphrase-fd", "3"]),
      inherited: [number.number]
    ).finish()
  }

  @Test func unlockedKeyNeedsNoPassphrase() throws {
    #expect(try get().errors.hasPrefix("error: the key of the role host is locked"))
    let unlocked = try unlock("--timeout", "600")
    #expect(unlocked.status == .exited(0), "\(unlocked.errors)")
    #expect(unlocked.errors == "the key of the role host is unlocked for 600 s\n")
    #expect(try get().output == "token-1")
    #expect(try framebus("grant", "whip.example.com", "studio", "capture").status == .exited(0))
    // A passphrase that is given is still checked.
    #expect(throws: CredentialError.locked(.host, isWrongPassphrase: true)) {
      _ = try world.open(passphrase: "cow")
    }
    #expect(try framebus("lock").errors == "locked the key of the role host\n")
    #expect(try get().status == .exited(1))
    #expect(try framebus("lock").errors == "the key of the role host was already locked\n")
  }

  @Test func timeoutLocksTheKey() throws {
    #expect(try unlock("--timeout", "1").status == .exited(0))
    try waitUntil("the key is locked") { try !get().status.isSuccess }
  }

  @Test func wrongPassphraseLocksTheKey() throws {
    let wrong = try unlock(with: "cow")
    #expect(wrong.errors.hasPrefix("error: the passphrase of the role host is wrong"))
    #expect(try get().status == .exited(1))
    #expect(try unlock().status == .exited(0))
    #expect(try unlock(with: "cow").status == .exited(1))
    #expect(try get().status == .exited(1))
  }

  @Test func newPassphraseLocksTheKey() throws {
    #expect(try unlock().status == .exited(0))
    try world.open().changeKeySource(
      of: .host, passphrase: nil, to: .passphrase(secret("cow")), cost: .interactive)
    #expect(try get().status == .exited(1))
    #expect(try world.open(passphrase: "cow").text() == "token-1")
  }

  @Test func forgedKeyringEntryOpensNothing() throws {
    let name = try #require(try world.store.files.keyFile(of: .host, in: world.group)?.unlockedName)
    for text in [String(repeating: "x", count: 32), "x", String(repeating: "x", count: 33)] {
      try secret(text).withBytes { bytes throws(SystemError) in
        try UserKeyring.keep(bytes, named: name, seconds: 60)
      }
      #expect(throws: CredentialError.self) { _ = try world.open() }
    }
    #expect(try CredentialStore.lock(.host, in: world.group))
    #expect(try world.open(passphrase: "horse").text() == "token-1")
  }

  @Test func keyWithoutAPassphraseCannotBeUnlocked() throws {
    let result = try framebus("unlock", "--role", "extension")
    #expect(result.status == .exited(1))
    #expect(result.errors.contains("has no passphrase"))
    for timeout in ["0", "604801", "-1", "x"] {
      #expect(try framebus("unlock", "--timeout", timeout).status == .exited(2), "\(timeout)")
    }
  }

  @Test(.enabled(if: TestUser.canBeCreated, "users can only be created by root"))
  func otherUsersCannotFindTheKey() throws {
    let user = try TestUser()
    #expect(try unlock().status == .exited(0))
    let found = try user.run("cat", ["/proc/keys"])
    #expect(!found.output.contains("framebus:\(CredentialWorld.groupName):host"))
    #expect(try run("cat", ["/proc/keys"]).output.contains("framebus:"))
    _ = try framebus("lock")
  }

  /// Simulates a container's seccomp filter.
  @Test func withoutAKeyringPassphrasesAreNeededAndDoctorReportsIt() throws {
    let script = tool("forbid_calls.py")
    func forbidden(_ arguments: [String]) throws -> ProgramResult {
      let pipe = try OneWayPipe()
      try writeFully(Array("horse".utf8), to: pipe.writeEnd.number)
      let number = try pipe.readEnd.duplicate()
      _ = pipe.takeWriteEnd()
      return try RunningProgram(
        "/usr/bin/python3", [script, "keyring", try pathOfProgram("framebus")] + arguments,
        inherited: [number.number]
      ).finish()
    }
    let fromPipe = ["--passphrase-fd", "3"]
    let refused = try forbidden(command("unlock", fromPipe))
    #expect(refused.status == .exited(1))
    #expect(refused.errors.contains("keyring is unavailable"), "\(refused.errors)")
    let got = try forbidden(command("get", ["whip.example.com", "studio"] + fromPipe))
    #expect(got.output == "token-1", "\(got.errors)")
    #expect(try forbidden(["doctor"]).output.contains("keyring                     unavailable"))
  }
}
