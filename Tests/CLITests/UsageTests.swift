import TestSupport
import Testing

/// Invalid arguments end with status 2, whichever program parses them, and create nothing.
@Suite struct UsageTests {
  @Test(arguments: [
    ["capture", "foo"], ["capture", "file:"], ["capture", "screen:"], ["capture", "test:nope"],
    ["capture", "window:0x"], ["capture", "window: "], ["windows", "0"], ["upload", "foo:bar"],
    ["upload", "file:x.avi"], ["upload", ":"], ["upload", "null:x"],
    ["upload", "null", "--bitrate", "0"], ["snapshot", "s", "x.jpg"],
  ])
  func invalidArgumentsHaveStatus2(_ arguments: [String]) throws {
    let root = try TemporaryRoot()
    let result = try run("framebus", arguments + ["--root", root.file("none")])
    #expect(result.status == .exited(2))
    #expect(result.output == "")
    #expect(result.errors.hasPrefix("error: "))
    #expect(try output(of: "ls", [root.path]) == "")
  }

  @Test(arguments: [
    (["captrue", "screen"], "framebus capture"),
    (["--root", "/x", "stream"], "framebus streams"),
    (["broadcast", "strat", "up"], "framebus broadcast start"),
    (["log", "shwo"], "framebus log show"),
    (["credential", "udpate"], "framebus credential update"),
    (["whip", "prob"], "framebus whip probe"),
    (["help", "brodcast"], "framebus broadcast"),
    (["help", "log", "shwo"], "framebus log show"),
  ])
  func mistypedVerbIsErrorThatSuggestsVerb(_ arguments: [String], _ verb: String) throws {
    let result = try run("framebus", arguments)
    #expect(result.status == .exited(2))
    let line = result.errors.split(separator: "\n").first
    #expect(line?.hasSuffix("; did you mean `\(verb)`?") == true, "\(result.errors)")
  }

  @Test(arguments: [
    ["frobnicate"], ["help", "frobnicate"], ["log", "frobnicate"], ["capture", "--frobnicate"],
  ])
  func wordThatResemblesNoVerbGetsNoSuggestion(_ arguments: [String]) throws {
    let result = try run("framebus", arguments)
    #expect(result.status == .exited(2))
    #expect(!result.errors.contains("did you mean"), "\(result.errors)")
  }

  /// A suggested command works on the group of the command that suggested it.
  @Test func suggestedCommandsHaveRootAndGroupOfUser() throws {
    let root = try TemporaryRoot()
    let folder = root.file("it's here")
    try run("mkdir", [folder]).requireSuccess()
    let location = ["--root", folder, "--group", "a.b"]
    let quoted = "'\(root.path)/it'\\''s here'"
    let missing = try run("framebus", location + ["streams"])
    // The location that the library names is not repeated.
    #expect(missing.errors.contains("`framebus group create a.b --root "), "\(missing.errors)")
    #expect(missing.errors.components(separatedBy: "--root").count == 2, "\(missing.errors)")
    try run("framebus", location + ["group", "create", "a.b"]).requireSuccess()
    let empty = try run("framebus", location + ["semaphore", "list"])
    #expect(
      empty.errors == "no semaphores; create one with `framebus semaphore create NAME --root "
        + "\(quoted) --group a.b`\n")
    let command = "framebus semaphore create gate --root \(quoted) --group a.b"
    let path = try pathOfProgram("framebus").split(separator: "/").dropLast().joined(separator: "/")
    try run("sh", ["-c", "PATH=/\(path):$PATH; \(command)"]).requireSuccess()
    let unknown = try run("framebus", location + ["semaphore", "show", "door"])
    #expect(unknown.status == .exited(1))
    #expect(
      unknown.errors.contains("`framebus semaphore create door --root \(quoted) --group a.b`"),
      "\(unknown.errors)")
  }

  @Test func commandsSuggestedWithoutOptionsHaveNone() throws {
    let root = try TemporaryRoot()
    let environment: [String: String?] = ["FRAMEBUS_HOME": root.path, "FRAMEBUS_GROUP": "a.b"]
    try run("framebus", ["group", "create", "a.b"], environment: environment).requireSuccess()
    let result = try run("framebus", ["semaphore", "list"], environment: environment)
    #expect(
      result.errors == "no semaphores; create one with `framebus semaphore create NAME`\n")
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
