import TestSupport
import Testing

/// Invalid arguments end with status 2, whichever program parses them, and create nothing.
@Suite struct UsageTests {
  @Test(arguments: [
    ["capture", "foo"], ["capture", "file:"], ["capture", "screen:"], ["capture", "test:nope"],
    ["capture", "window:one"], ["upload", "foo:bar"], ["upload", "file:x.avi"], ["upload", ":"],
    ["upload", "null:x"], ["upload", "null", "--bitrate", "0"], ["snapshot", "s", "x.jpg"],
  ])
  func invalidArgumentsHaveStatus2(_ arguments: [String]) throws {
    let root = try TemporaryRoot()
    let result = try run("framebus", arguments + ["--root", root.file("none")])
    #expect(result.status == .exited(2))
    #expect(result.output == "")
    #expect(result.errors.hasPrefix("error: "))
    #expect(try output(of: "ls", [root.path]) == "")
  }

  @Test(arguments: [["streams"], ["group", "list"], ["capture", "test"], ["upload", "null"]])
  func emptyRootIsAUsageError(_ arguments: [String]) throws {
    let result = try run("framebus", arguments + ["--root", ""])
    #expect(result.status == .exited(2))
    #expect(result.errors.hasPrefix("error: --root: name a directory"))
  }

  @Test(arguments: [
    ["streams"], ["top", "--count", "1"], ["play", "screen"], ["record", "screen", "x.rec"],
    ["semaphore", "list"], ["semaphore", "try", "gate"], ["semaphore", "show", "gate"],
    ["semaphore", "remove", "gate"], ["notify", "list"], ["notify", "dump"],
    ["notify", "check", "change"], ["notify", "state", "change"],
  ])
  func readingVerbsCreateNoGroup(_ arguments: [String]) throws {
    let root = try TemporaryRoot()
    let result = try run(
      "framebus", arguments + ["--root", root.path], environment: ["FRAMEBUS_GROUP": nil],
      directory: root.path)
    #expect(result.output == "")
    #expect(try output(of: "ls", [root.path]) == "")
    #expect(result.status == .exited(1))
    #expect(result.errors.contains("create it with `framebus group create"), "\(result.errors)")
  }

  @Test(arguments: [
    ["streams"], ["top", "--count", "1"], ["semaphore", "list"], ["notify", "list"],
    ["capture", "test"], ["upload", "null"], ["record", "screen", "/dev/null"], ["play", "screen"],
  ])
  func roleIsTakenOnlyByPermittedUsers(_ arguments: [String]) throws {
    let root = try TemporaryRoot()
    let location = ["--root", root.path, "--group", "a.b"]
    try run("framebus", ["group", "create", "a.b", "--root", root.path]).requireSuccess()
    let refused = try run("framebus", arguments + location + ["--role", "viewer"])
    #expect(refused.status == .exited(1))
    #expect(refused.errors.contains("does not hold the role viewer in the group a.b, only"))
    let wrong = try run("framebus", arguments + location + ["--role", "No Role"])
    #expect(wrong.status == .exited(2))
    #expect(wrong.errors.hasPrefix("error: “No Role” is not a role; roles are words like"))
  }
}
