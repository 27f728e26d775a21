import Foundation
import TestSupport
import Testing

@testable import Platform

/// Output that cannot be written is a failure, however it is printed.
@Suite struct OutputTests {
  private let root: TemporaryRoot

  init() throws {
    root = try TemporaryRoot(mode: 0o755)
    try run("framebus", ["group", "create", "a.b", "--root", root.path]).requireSuccess()
  }

  /// Runs `framebus …` with standard streams as a shell redirects them.
  private func framebus(_ redirection: String, _ arguments: [String]) throws -> ProgramResult {
    try run(
      "sh", ["-c", "\"$0\" \"$@\" \(redirection)", pathOfProgram("framebus")] + arguments,
      environment: ["FRAMEBUS_HOME": root.path, "FRAMEBUS_GROUP": "a.b", "NO_COLOR": "1"])
  }

  @Test(arguments: [
    ["--help"], ["--version"], ["group", "show"], ["group", "list"], ["group", "doctor"],
    ["group", "list", "--json"], ["doctor"], ["notify", "state", "x.y"],
    ["semaphore", "create", "gate"],
  ])
  func fullDiskIsAnErrorWithStatus1(_ arguments: [String]) throws {
    let result = try framebus(">/dev/full", arguments)
    #expect(result.status == .exited(1))
    #expect(
      result.errors == "error: write standard output: No space left on device; free some space"
        + " and try again\n")
  }

  /// Starts `framebus …` with a closed standard output.
  private func unread(_ arguments: [String]) throws -> RunningProgram {
    let start = """
      import os, subprocess, sys
      reader, writer = os.pipe()
      os.close(reader)
      sys.exit(subprocess.call(sys.argv[1:], stdout=writer))
      """
    return try RunningProgram(
      "python3", ["-c", start, pathOfProgram("framebus")] + arguments,
      environment: ["FRAMEBUS_HOME": root.path, "FRAMEBUS_GROUP": "a.b"])
  }

  @Test(arguments: [
    ["--help"], ["group", "show"], ["group", "list", "--json"], ["log", "--json"],
    ["top", "--count", "1", "--interval", "0.1"],
  ])
  func closedStandardOutputIsNotAnError(_ arguments: [String]) throws {
    try framebus("", ["log", "append", "a line"]).requireSuccess()
    let result = try unread(arguments).finish()
    #expect(result.status == .exited(0))
    #expect(result.errors == "")
  }

  @Test func watchEndsWhenItsOutputIsClosed() throws {
    let watch = try unread(["notify", "watch", "x.y"])
    try watch.waitForErrors("watching x.y\n")
    try framebus("", ["notify", "post", "x.y"]).requireSuccess()
    let result = try watch.finish()
    #expect(result.status == .exited(0))
    #expect(result.errors == "watching x.y\n")
  }

  @Test(arguments: [
    (["play", "/none/x"], "open /none/x: No such file or directory; check the path"),
    (["play", "/tmp"], "open /tmp: Is a directory; name a file"),
    (["defaults", "import", "s", "/none"], "open /none: No such file or directory; check"),
    (["defaults", "import", "s", "/tmp"], "read /tmp: Is a directory; name a file"),
    (["log", "--export", "/none"], "No such file or directory; check the path"),
    (["extension", "register", "/none/x"], "No such file or directory; check the path"),
    (
      ["semaphore", "wait", "gate", "--", "/none"],
      "cannot start /none: No such file or directory; name a program"
    ),
    (["credential", "import", "/none"], "No such file or directory; check the path"),
    (["credential", "import", "/tmp"], "/tmp is a directory, not a regular file; name a file"),
    (["credential", "import", "/etc/passwd"], "is not what `framebus credential export` wrote"),
    (["group", "remove", "c.d"], "there is no group c.d; list groups with `framebus group list`"),
  ])
  func errorNamesTheFileThatCannotBeOpenedAndARemedy(_ arguments: [String], _ wanted: String) throws
  {
    try framebus("", ["semaphore", "create", "gate"]).requireSuccess()
    let result = try framebus("", arguments)
    #expect(result.status == .exited(1))
    #expect(result.errors.contains(wanted), "\(result.errors)")
    #expect(result.errors.split(separator: "\n").count == 1, "\(result.errors)")
  }

  @Test(arguments: [
    ("defaults write s k v", "written", "k"), ("defaults remove s", "removed", "s"),
    ("log append hello", "appended", "hello"), ("credential set s a", "set", "s/a"),
    ("credential rotate s a", "rotated", "s/a"), ("credential remove s a", "removed", "s/a"),
    ("extension register --builtin null", "registered", "framebus.upload"),
  ])
  func resultIsAnObjectWithJSON(_ line: String, _ key: String, _ value: String) throws {
    try framebus("", ["defaults", "write", "s", "k", "v"]).requireSuccess()
    let secret = root.file("secret")
    try Data("secret".utf8).write(to: URL(fileURLWithPath: secret))
    try framebus("<\(secret)", ["credential", "set", "s", "a"]).requireSuccess()
    let result = try framebus(
      "<\(secret)", line.split(separator: " ").map(String.init) + ["--json"])
    #expect(result.output == "{\n  \"\(key)\" : \"\(value)\"\n}\n", "\(result.errors)")
  }

  @Test(arguments: [["play", "x"], ["credential", "get", "s", "a"]])
  func jsonIsRefusedForVerbsWithAnOutputFormatOfTheirOwn(_ arguments: [String]) throws {
    let result = try framebus("", arguments + ["--json"])
    #expect(result.status == .exited(2))
    #expect(result.errors.hasPrefix("error: --json does not apply"), "\(result.errors)")
  }

  @Test(.enabled(if: geteuid() == 0, "mounting takes root"))
  func errorNamesAFullDisk() throws {
    let location = root.file("small")
    let program = try pathOfProgram("framebus")
    let script = """
      mkdir \(location) && mount -t tmpfs -o size=1m tmpfs \(location) || exit 77
      bus() { "\(program)" "$@" --root \(location) --group a.b --quiet; }
      bus group create > /dev/null
      dd if=/dev/zero of=\(location)/filler bs=4096 2> /dev/null
      bus notify post x; bus semaphore create gate; bus extension register --builtin null
      echo secret | bus credential set s a
      """
    let result = try run("unshare", ["--mount", "sh", "-c", script])
    let lines = result.errors.split(separator: "\n")
    #expect(lines.count == 4, "\(result.errors)")
    for line in lines {
      #expect(line.hasPrefix("error: ") && line.contains("No space left on device; free some"))
    }
  }

  @Test func closedStandardStreamsAreNotReplacedByOpenedFiles() throws {
    let created = try framebus(">&-", ["semaphore", "create", "gate"])
    #expect(created.status == .exited(1))
    #expect(created.errors == "error: write standard output: Bad file descriptor\n")
    let failed = try framebus("<&- >&- 2>&-", ["semaphore", "create", "gate"])
    #expect(failed.status == .exited(1))
    let shown = try framebus("", ["semaphore", "show", "gate"])
    #expect(shown.output.hasPrefix("semaphore  gate\ncount      1 "), "\(shown.errors)")
  }
}
