import Foundation
import TestSupport
import Testing

@testable import Platform

/// Failed changes of a group: each is applied completely or not at all.
@Suite(.enabled(if: geteuid() == 0, "mounting takes root"))
final class GroupFailureTests {
  private let root: TemporaryRoot

  init() throws {
    root = try TemporaryRoot(mode: 0o755)
    try output(of: "mount", ["-t", "tmpfs", "-o", "size=1m,mode=755", "tmpfs", root.path])
  }

  deinit { _ = try? output(of: "umount", [root.path]) }

  private func framebus(_ arguments: String...) throws -> ProgramResult {
    try run("framebus", arguments + ["--root", root.path])
  }

  private func fillDisk() throws {
    let filler = root.file("filler")
    _ = try run("dd", ["if=/dev/zero", "of=\(filler)", "bs=4096"])
  }

  /// All entries with owners, modes and access control lists.
  private func permissions() throws -> String {
    try output(of: "getfacl", ["-RpEn", root.file("state"), root.file("run")])
  }

  @Test func grantOnAFullDiskGrantsNothing() throws {
    try framebus("group", "create", "a.b").requireSuccess()
    let user = try TestUser()
    let friend = try TestUser()
    try framebus("group", "grant", "capture", "a.b", "--uid", "\(friend.uid)").requireSuccess()
    let before = try (permissions(), framebus("group", "show", "a.b").output)
    try fillDisk()
    let result = try framebus(
      "group", "grant", "host", "a.b", "--uid", "\(user.uid)", "--gid", "\(user.gid)")
    #expect(result.status == .exited(1))
    #expect(result.errors.contains("No space left on device; free some space"), "\(result.errors)")
    try FileManager.default.removeItem(atPath: root.file("filler"))
    #expect(try permissions() == before.0)
    #expect(try framebus("group", "show", "a.b").output == before.1)
    #expect(try user.run("ls", [root.file("run/a.b")]).status != .exited(0))
    #expect(try friend.run("ls", [root.file("run/a.b")]).status == .exited(0))
    try framebus("group", "doctor", "a.b").requireSuccess()
  }

  @Test func firstGrantOnAFullDiskLeavesAGroupOfOneUser() throws {
    try framebus("group", "create", "a.b").requireSuccess()
    let before = try permissions()
    try fillDisk()
    #expect(try framebus("group", "grant", "host", "a.b", "--uid", "4242").status == .exited(1))
    try FileManager.default.removeItem(atPath: root.file("filler"))
    #expect(try permissions() == before)
  }

  @Test func createOnAFullDiskLeavesNoGroup() throws {
    try framebus("group", "create", "a.b").requireSuccess()
    try fillDisk()
    // Leaves a few free pages, but not enough for the run directory.
    for pages in 0..<8 {
      let result = try framebus("group", "create", "c.d")
      if result.status == .exited(0) {
        try framebus("group", "remove", "c.d").requireSuccess()
      } else {
        #expect(result.errors.contains("No space left on device"), "\(result.errors)")
        let listed = try framebus("group", "list")
        #expect(!listed.output.contains("c.d"), "\(pages) pages: \(listed.output)")
        #expect(try !names().contains("c.d"))
      }
      let filler = try FileHandle(forWritingTo: URL(fileURLWithPath: root.file("filler")))
      let byteCount = try filler.seekToEnd()
      try filler.truncate(atOffset: byteCount - 4096)
    }
  }

  private func names() throws -> [String] {
    try ["state", "run"].flatMap {
      try FileManager.default.contentsOfDirectory(atPath: root.file($0))
    }
  }

  /// Injects a failure into the first call of a kind, then into the second, and so on, until a run
  /// succeeds.
  @Test(
    .enabled(if: programInPath(named: "strace") != nil, "strace is missing: apt install strace"),
    arguments: ["fsetxattr", "fchmod", "write", "fsync", "renameat2", "openat"])
  func grantThatFailsAtAnyStepGrantsNothing(_ call: String) throws {
    try framebus("group", "create", "a.b").requireSuccess()
    try framebus("group", "grant", "capture", "a.b", "--uid", "4242").requireSuccess()
    let before = try (permissions(), framebus("group", "show", "a.b").output)
    // The first files that a process opens are its libraries.
    for number in (call == "openat" ? 20 : 1)... {
      let result = try run(
        "strace",
        ["-f", "-qq", "-o", "/dev/null", "-e", "trace=\(call)"]
          + ["-e", "inject=\(call):error=ENOSPC:when=\(number)", try pathOfProgram("framebus")]
          + ["group", "grant", "host", "a.b", "--uid", "4343", "--root", root.path, "--quiet"])
      if result.status == .exited(0) || result.errors.contains("the role is granted") { break }
      let after = try (permissions(), framebus("group", "show", "a.b").output)
      #expect(after == before, "\(call) \(number): \(result.errors)")
      if after != before { break }
    }
    try framebus("group", "doctor", "a.b").requireSuccess()
  }
}
