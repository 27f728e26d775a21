import TestSupport
import Testing

/// Wrong words are answered with status 2, in whichever program they are understood, and nothing
/// is made.
@Suite struct UsageTests {
  @Test(arguments: [
    ["capture", "foo"], ["capture", "file:"], ["capture", "screen:"], ["capture", "test:nope"],
    ["capture", "window:1"], ["upload", "foo:bar"], ["upload", "file:x.avi"], ["upload", ":"],
    ["upload", "null:x"], ["upload", "null", "--bitrate", "0"], ["snapshot", "s", "x.jpg"],
  ])
  func wrongWordsHaveStatus2(_ arguments: [String]) throws {
    let root = try TemporaryRoot()
    let result = try run("framebus", arguments + ["--root", root.file("none")])
    #expect(result.status == .exited(2))
    #expect(result.output == "")
    #expect(result.errors.hasPrefix("error: "))
    #expect(try output(of: "ls", [root.path]) == "")
  }
}
