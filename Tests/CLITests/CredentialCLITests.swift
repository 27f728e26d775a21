import Foundation
import TestSupport
import Testing

@testable import Platform

/// Runs `framebus credential …` as a user would, and checks its output, errors and exit status.
@Suite struct CredentialCLITests {
  private let root: TemporaryRoot

  init() throws {
    root = try TemporaryRoot()
    #expect(try framebus("group", "create").status == .exited(0))
  }

  private var location: [String] { ["--root", root.path, "--group", "a.b"] }

  private func framebus(_ arguments: String...) throws -> ProgramResult {
    try run("framebus", arguments + location)
  }

  /// A shell line in which `FRAMEBUS` stands for the program and `PLACE` for the group's options.
  private func shell(_ line: String) throws -> ProgramResult {
    let line = line.replacing("FRAMEBUS", with: try pathOfProgram("framebus"))
      .replacing("PLACE", with: location.joined(separator: " "))
    return try run("sh", ["-c", line])
  }

  @Test func credentialIsAddedReadListedShownAndRemoved() throws {
    let none = try framebus("credential", "list")
    #expect(none.output == "" && none.status == .exited(0))
    let added = try shell(
      "echo token-1 | FRAMEBUS credential add s a --recipient extension --label Studio"
        + " --expires 2100-01-01T00:00:00Z PLACE")
    #expect(added.status == .exited(0), "\(added.errors)")
    #expect(added.output == "" && added.errors == "added the credential s/a\n")
    #expect(try framebus("credential", "get", "s", "a").output == "token-1")
    let list = try framebus("credential", "list")
    #expect(list.output == "s/a  extension,host  expires 2100-01-01T00:00:00Z  Studio\n")
    let json = try framebus("credential", "show", "s", "a", "--json").output
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    #expect(object["expiresAt"] as? String == "2100-01-01T00:00:00Z")
    #expect(object["recipients"] as? [String] == ["extension", "host"])
    #expect(object["generation"] as? Int == 2)
    let again = try shell("echo x | FRAMEBUS credential add s a PLACE")
    #expect(again.status == .exited(1))
    #expect(again.errors.hasPrefix("error: the credential s/a already exists"))
    #expect(try framebus("credential", "remove", "s", "a").status == .exited(0))
    let gone = try framebus("credential", "get", "s", "a")
    #expect(gone.status == .exited(1))
    #expect(gone.errors.hasPrefix("error: there is no credential s/a; see"))
  }

  @Test func grantAndRevokeDecideWhichRolesOpen() throws {
    _ = try shell("echo token-1 | FRAMEBUS credential set s a PLACE")
    let before = try framebus("credential", "get", "s", "a", "--role", "extension")
    #expect(before.status == .exited(1))
    #expect(try framebus("credential", "grant", "s", "a", "extension").status == .exited(0))
    #expect(
      try framebus("credential", "get", "s", "a", "--role", "extension").output == "token-1")
    let revoked = try framebus("credential", "revoke", "s", "a", "extension")
    #expect(revoked.status == .exited(0))
    #expect(revoked.errors.contains("warning: the role extension may have read the secret"))
    let after = try framebus("credential", "get", "s", "a", "--role", "extension")
    #expect(after.status == .exited(1))
    #expect(after.errors.contains("was not granted to the role extension"))
  }

  @Test func finalNewlineIsDroppedWithoutExact() throws {
    _ = try shell("printf 'a\\nb\\n\\n' | FRAMEBUS credential set s a PLACE")
    #expect(try framebus("credential", "get", "s", "a").output == "a\nb\n")
    _ = try shell("printf 'a\\n' | FRAMEBUS credential set s a --exact PLACE")
    #expect(try framebus("credential", "get", "s", "a").output == "a\n")
  }

  @Test func secretIsReadFromADescriptor() throws {
    _ = try shell("FRAMEBUS credential set s a --secret-fd 5 5<<E PLACE\ntoken-5\nE")
    #expect(try framebus("credential", "get", "s", "a").output == "token-5")
    let closed = try framebus("credential", "set", "s", "a", "--secret-fd", "77")
    #expect(closed.status == .exited(1))
    #expect(closed.errors.contains("cannot read the secret from the file descriptor 77"))
    let empty = try framebus("credential", "set", "s", "a")
    #expect(empty.errors == "error: the secret is empty\n")
    let long = try shell("head -c 65537 /dev/zero | FRAMEBUS credential set s a PLACE")
    #expect(long.errors.hasPrefix("error: the secret has 1 to 65536 bytes"))
  }

  /// If it were truncated, its first bytes would open the same key.
  @Test func tooLongPassphraseIsRefusedNotTruncated() throws {
    let refused = try shell(
      "echo secret | FRAMEBUS credential add s a PLACE --passphrase-fd 5 5< /dev/zero")
    #expect(refused.errors == "error: the passphrase has 1 to 65536 bytes, not more\n")
    #expect(try framebus("credential", "get", "s", "a").status == .exited(1))
    let longest = try shell(
      "long=$(mktemp); head -c 65536 /dev/zero > $long; echo >> $long; echo secret |"
        + " FRAMEBUS credential add s a PLACE --passphrase-fd 5 5< $long && rm $long")
    #expect(longest.status == .exited(0), "\(longest.errors)")
  }

  /// On a pseudo-terminal.
  @Test func secretIsTypedWithoutEcho() throws {
    let result = try typed("token-typed")
    #expect(result.output.contains("Secret of s/a: "), "\(result.output)\(result.errors)")
    #expect(!result.output.contains("token-typed"))
    #expect(try framebus("credential", "get", "s", "a").output == "token-typed")
  }

  @Test func typingCanBeCorrectedAndInterrupted() throws {
    let erased = try typed("token-é\u{7f}\u{7f}X")
    #expect(erased.status == .exited(0))
    #expect(try framebus("credential", "get", "s", "a").output == "tokenX")
    #expect(try typed("wrong\u{15}right").status == .exited(0))
    #expect(try framebus("credential", "get", "s", "a").output == "right")
    #expect(try typed("token\u{3}").status == .exited(130))
    #expect(try framebus("credential", "get", "s", "a").output == "right")
  }

  private func typed(_ answer: String) throws -> ProgramResult {
    let script = tool("type_answer.py")
    return try run(
      "/usr/bin/python3",
      [script, "Secret of s/a: ", answer, "--", try pathOfProgram("framebus"), "credential", "set"]
        + ["s", "a"] + location)
  }

  @Test func passphraseLocksTheHostsKey() throws {
    _ = try shell(
      "echo token-1 | FRAMEBUS credential add s a --passphrase-fd 5 5<<E PLACE\nhorse\nE")
    let locked = try framebus("credential", "get", "s", "a")
    #expect(locked.status == .exited(1))
    #expect(locked.errors.hasPrefix("error: the key of the role host is locked"))
    let wrong = try shell("FRAMEBUS credential get s a --passphrase-fd 5 5<<E PLACE\ncow\nE")
    #expect(wrong.errors.hasPrefix("error: the passphrase of the role host is wrong"))
    let right = try shell("FRAMEBUS credential get s a --passphrase-fd 5 5<<E PLACE\nhorse\nE")
    #expect(right.output == "token-1", "\(right.errors)")
    let opened = try shell(
      "FRAMEBUS credential protect --no-passphrase --passphrase-fd 5 5<<E PLACE\nhorse\nE")
    #expect(opened.status == .exited(0), "\(opened.errors)")
    #expect(try framebus("credential", "get", "s", "a").output == "token-1")
  }

  @Test func credentialsMoveToAnotherGroupInAFile() throws {
    _ = try shell("printf token-1 | FRAMEBUS credential set s a --recipient extension PLACE")
    _ = try shell("printf token-2 | FRAMEBUS credential set t a PLACE")
    let other = ["--root", root.path, "--group", "c.d"]
    #expect(try run("framebus", ["group", "create"] + other).status == .exited(0))
    let printed = try run("framebus", ["credential", "identity"] + other)
    let identity = try #require(printed.output.split(separator: "\n").first.map(String.init))
    let file = root.file("moved")
    let exported = try framebus("credential", "export", file, "--to", identity)
    #expect(exported.errors == "exported 2 credentials to \(file)\n")
    let own = try framebus("credential", "identity").output.dropLast()
    let imported = try run(
      "framebus", ["credential", "import", file, "--from", String(own)] + other)
    #expect(imported.errors == "imported 2 credentials from \(file)\n")
    #expect(try run("framebus", ["credential", "get", "t", "a"] + other).output == "token-2")
    let again = try run("framebus", ["credential", "import", file] + other)
    #expect(again.status == .exited(1))
    #expect(again.errors.contains("already") && again.errors.contains("--replace"))
    #expect(
      try run("framebus", ["credential", "import", file, "--replace"] + other).status.isSuccess)
    let stranger = try run(
      "framebus", ["credential", "import", file, "--from", identity, "--replace"] + other)
    #expect(stranger.errors.hasPrefix("error: the file was exported by another store"))
    let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
    #expect(mode == 0o600)
  }

  @Test func exportUnderAPassphraseOpensWithIt() throws {
    _ = try shell("printf token-1 | FRAMEBUS credential set s a PLACE")
    let file = root.file("backup")
    let exported = try shell(
      "FRAMEBUS credential export \(file) --service s --file-passphrase-fd 5 5<<E PLACE\nhorse\nE")
    #expect(exported.status == .exited(0), "\(exported.errors)")
    _ = try framebus("credential", "remove", "s", "a")
    let without = try framebus("credential", "import", file)
    #expect(without.errors.contains("the file was sealed under a passphrase"))
    let wrong = try shell(
      "FRAMEBUS credential import \(file) --file-passphrase-fd 5 5<<E PLACE\ncow\nE")
    #expect(wrong.errors.contains("the file's passphrase is wrong"))
    let right = try shell(
      "FRAMEBUS credential import \(file) --file-passphrase-fd 5 5<<E PLACE\nhorse\nE")
    #expect(right.status == .exited(0), "\(right.errors)")
    #expect(try framebus("credential", "get", "s", "a").output == "token-1")
    #expect(try framebus("credential", "rotate", "s", "a").status == .exited(0))
    #expect(try framebus("credential", "get", "s", "a").output == "token-1")
  }

  @Test func wrongUsageHasStatus2() throws {
    for arguments in [
      ["credential", "set", "s", "a", "--expires", "tomorrow"],
      ["credential", "get", "s\n", "a"], ["credential", "grant", "s", "a", "Extension"],
      ["credential", "export", "f", "--account", "a"], ["credential", "export", "f", "--to", "x"],
      ["credential", "protect"], ["credential", "set", "s", "a", "token"],
    ] {
      #expect(try run("framebus", arguments + location).status == .exited(2), "\(arguments)")
    }
  }

  /// Neither in durable nor in volatile files, nor in any output.
  @Test func noFileHoldsTheSecret() throws {
    _ = try shell("echo canary-4711 | FRAMEBUS credential set s a --recipient extension PLACE")
    _ = try framebus("credential", "get", "s", "a")
    #expect(try run("grep", ["-r", "canary-4711", root.path]).status == .exited(1))
    let audit = try framebus("credential", "audit", "--json")
    #expect(audit.output.contains("\"verb\" : \"get\""))
    #expect(!audit.output.contains("canary"))
  }

  @Test func tooLittleLockableMemoryIsAnError() throws {
    _ = try shell("echo token-1 | FRAMEBUS credential set s a PLACE")
    let result = try shell(
      "exec setpriv --bounding-set -ipc_lock --inh-caps -all prlimit --memlock=4096:4096"
        + " FRAMEBUS credential get s a PLACE")
    #expect(result.status == .exited(1))
    #expect(result.output == "")
    #expect(result.errors.contains("error: cannot lock"), "\(result.errors)")
  }
}
