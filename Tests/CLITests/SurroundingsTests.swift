import Foundation
import TestSupport
import Testing

@testable import Platform

/// Environments of programs: without /proc, with a limit on the size of files, on a read-only file
/// system.
@Suite struct SurroundingsTests {
  private let root: TemporaryRoot

  init() throws {
    root = try TemporaryRoot(mode: 0o755)
    try run("framebus", ["group", "create", "a.b", "--root", root.path]).requireSuccess()
  }

  /// Runs shell commands in which `bus` is framebus in the group.
  private func shell(_ lines: String, in command: [String] = []) throws -> ProgramResult {
    let program = try pathOfProgram("framebus")
    let script = """
      any() { "\(program)" "$@" --root \(root.path); }; bus() { any "$@" --group a.b; }
      \(lines)
      """
    let words = command + ["sh", "-c", script]
    return try run(words[0], Array(words.dropFirst()), environment: ["NO_COLOR": "1"])
  }

  private static let ownMounts = ["unshare", "--mount"]

  // MARK: /proc

  @Test(.enabled(if: geteuid() == 0, "mounting takes root"))
  func secretIsStoredWithoutProc() throws {
    let result = try shell(
      "mount -t tmpfs none /proc || exit 77; printf secret | bus credential set a b",
      in: Self.ownMounts)
    #expect(result.status == .exited(0), "\(result.errors)")
    #expect(result.errors == "set the credential a/b\n")
    #expect(try shell("bus credential get a b").output == "secret")
  }

  @Test(
    .enabled(if: geteuid() == 0, "mounting takes root"),
    arguments: [
      "framebus", "framebus-capture", "framebus-capture-gstreamer", "framebus-upload",
      "framebus-view",
    ])
  func everyProgramReadsItsCommandLineWithoutProc(_ name: String) throws {
    guard let program = siblingProgram(named: name) else { return }
    // Not the output that follows from a missing command line.
    let option = name == "framebus" ? "--version" : "--help"
    let result = try run(
      "unshare",
      ["--mount", "sh", "-c", "mount -t tmpfs none /proc || exit 77; \"$0\" \(option)", program])
    #expect(result.status == .exited(0), "\(result.errors)")
    #expect(try result.output == run(program, [option]).output)
  }

  @Test(.enabled(if: geteuid() == 0, "mounting takes root"))
  func roleProgramIsFoundWithoutProc() throws {
    let result = try shell(
      "mount -t tmpfs none /proc || exit 77; bus capture nonsense", in: Self.ownMounts)
    #expect(result.status == .exited(2), "\(result.errors)")
    #expect(result.errors.contains("nonsense"), "\(result.errors)")
  }

  // MARK: RLIMIT_FSIZE

  @Test(arguments: [
    "group list", "group create c.d", "notify list", "notify post x", "credential get a b",
    "credential list", "log append hello", "log", "defaults write s k v", "semaphore create g",
    "capture test --frames 2 --size 32x32", "extension register --builtin null",
  ])
  func fileOverTheSizeLimitIsAnError(_ verb: String) throws {
    try shell("printf secret | bus credential set a b; bus log append first").requireSuccess()
    for limit in 0...1 {
      let file = root.file("output-\(limit)")
      let result = try shell(
        "ulimit -f \(limit); \(verb.hasPrefix("group") ? "any" : "bus")"
          + " \(verb) > \(file)")
      if result.status == .exited(0) { continue }
      #expect(result.status == .exited(1), "\(limit): \(result.errors)")
      #expect(result.errors.contains("File too large"), "\(result.errors)")
      #expect(result.errors.contains("raise the limit on a file's size"), "\(result.errors)")
    }
  }

  @Test func childrenIgnoreNoSignal() throws {
    try shell("printf secret | bus credential set a b").requireSuccess()
    let result = try shell(
      "\"\(pathOfProgram("framebus"))\" credential run --root \(root.path) --group a.b --"
        + " grep SigIgn /proc/self/status")
    let digits = result.output.split(separator: "\t").last?.dropLast() ?? ""
    let ignored = try #require(UInt64(digits, radix: 16), "\(result.errors)")
    for number in [SIGPIPE, SIGXFSZ, SIGTERM] { #expect(ignored & 1 << UInt64(number - 1) == 0) }
  }

  // MARK: Read-only file systems

  @Test(
    .enabled(if: geteuid() == 0, "mounting takes root"),
    arguments: [
      "defaults write s k v2", "defaults write new k v", "defaults remove s", "defaults remove s k",
      "credential remove a b", "credential set c d", "group grant host --uid 5", "notify post x",
      "semaphore create gate", "log append hello", "extension register --builtin null",
      "capture test --frames 2 --size 32x32", "group remove",
    ])
  func readOnlyFileSystemIsNamed(_ verb: String) throws {
    try shell("bus defaults write s k v; printf secret | bus credential set a b").requireSuccess()
    let result = try shell(
      "mount --bind \(root.path) \(root.path) && mount -o remount,ro,bind \(root.path)"
        + " || exit 77; echo x | bus \(verb)", in: Self.ownMounts)
    #expect(result.status == .exited(1))
    #expect(result.errors.contains("Read-only file system"), "\(result.errors)")
    #expect(!result.errors.contains("permission"), "\(result.errors)")
  }

  // MARK: fsync

  /// Only the last `fsync(2)`, the directory's, fails: every reader sees the new values.
  @Test(
    .enabled(if: programInPath(named: "strace") != nil, "strace is missing: apt install strace"))
  func changeThatFailsOnlyToSyncIsNotReportedAsUndone() throws {
    // Larger than a journal may be, so that a new file replaces the old one.
    let text = String(repeating: "x", count: 3 << 20)
    let file = root.file("settings.json")
    try Data("{\"k\": \"\(text)\"}".utf8).write(to: URL(fileURLWithPath: file))
    let program = try pathOfProgram("framebus")
    var hasSeenLateFailure = false
    for number in 1... {
      _ = try shell("bus defaults remove s")
      try shell("bus defaults write s first 1").requireSuccess()
      let result = try run(
        "strace",
        ["-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync"]
          + ["-e", "inject=fsync:error=ENOSPC:when=\(number)", program]
          + ["defaults", "import", "s", file, "--root", root.path, "--group", "a.b"])
      let isThere = try shell("bus defaults read s k").status == .exited(0)
      if result.status == .exited(0) { break }
      #expect(isThere != result.errors.contains("nothing was changed"), "\(result.errors)")
      #expect(isThere == result.errors.contains("after the change"), "\(result.errors)")
      hasSeenLateFailure = hasSeenLateFailure || isThere
    }
    #expect(hasSeenLateFailure)
  }
}
