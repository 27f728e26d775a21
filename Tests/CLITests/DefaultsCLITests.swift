import AppGroup
import Foundation
import SharedDefaults
import TestSupport
import Testing

@testable import Platform

/// Runs `framebus defaults …` as a user would, and checks its output, errors and exit status.
@Suite struct DefaultsCLITests {
  private let root: TemporaryRoot

  init() throws {
    root = try TemporaryRoot(mode: 0o755)
    #expect(try framebus("group", "create", "a.b").status.isSuccess)
  }

  private func framebus(_ arguments: String...) throws -> ProgramResult {
    try run("framebus", ["--root", root.path, "--group", "a.b"] + arguments)
  }

  private func write(_ arguments: String...) throws {
    let all = ["--root", root.path, "--group", "a.b", "defaults", "write", "studio"] + arguments
    let result = try run("framebus", all)
    #expect(result.status.isSuccess, "\(result.errors)")
    #expect(result.output == "" && result.errors == "")
  }

  private func read(_ arguments: String...) throws -> String {
    let all = ["--root", root.path, "--group", "a.b", "defaults", "read", "studio"] + arguments
    let result = try run("framebus", all)
    #expect(result.status.isSuccess, "\(result.errors)")
    return result.output
  }

  @Test func everyTypeIsWrittenReadListedAndRemoved() throws {
    try write("whipURL", "https://example.com/whip")
    try write("fps", "60", "--type", "int")
    try write("gain", "0.5", "--type", "double")
    try write("hd", "yes", "--type", "bool")
    try write("icon", "AP8=", "--type", "data")
    try write("since", "1.5", "--type", "date")
    try write("page", "https://example.com", "--type", "url")
    try write("sizes", #"[[1920, 1080], {"w": "auto"}]"#, "--type", "json")
    try write("offset", "--type", "int", "--", "-3")
    #expect(try read("whipURL") == "https://example.com/whip\n")
    #expect(try read("whipURL", "--json") == "\"https://example.com/whip\"\n")
    #expect(
      try read() == """
        fps  60
        gain  0.5
        hd  true
        icon  {"@data":"AP8="}
        offset  -3
        page  {"@url":"https://example.com"}
        since  {"@date":1.5}
        sizes  [[1920,1080],{"w":"auto"}]
        whipURL  "https://example.com/whip"

        """)
    #expect(try framebus("defaults", "list").output == "studio\n")
    #expect(try framebus("defaults", "list", "--json").output == "[\n  \"studio\"\n]\n")
    try #require(framebus("defaults", "remove", "studio", "sizes").status.isSuccess)
    let gone = try framebus("defaults", "read", "studio", "sizes")
    #expect(gone.status == .exited(1))
    #expect(
      gone.errors
        == "error: studio has no setting sizes; see `framebus defaults read studio --root "
        + "\(root.path) --group a.b`\n")
    #expect(try framebus("defaults", "remove", "studio", "sizes").status == .exited(1))
    try #require(framebus("defaults", "remove", "studio").status.isSuccess)
    for verb in ["read", "remove", "export"] {
      let missing = try framebus("defaults", verb, "studio")
      #expect(missing.status == .exited(1))
      #expect(missing.errors.hasPrefix("error: there is no suite studio in the group a.b; see"))
    }
  }

  @Test func conditionalWriteRequiresTheExpectedValue() throws {
    try write("n", "1", "--type", "int")
    try write("n", "2", "--type", "int", "--if-equals", "1")
    let result = try framebus(
      "defaults", "write", "studio", "n", "3", "--type", "int", "--if-equals", "1")
    #expect(result.status == .exited(1))
    #expect(result.errors == "error: n is 2, not 1; nothing was changed\n")
    #expect(try read("n") == "2\n")
  }

  @Test func secretIsRefusedWithTheCommandThatSealsItAndIsNotLeaked() throws {
    let result = try framebus("defaults", "write", "studio", "whipBearer", "hunter2-secret")
    #expect(result.status == .exited(1))
    #expect(
      result.errors == """
        error: whipBearer looks like a secret, and every member of the group can read a suite; \
        seal it with `framebus credential set studio whipBearer --group a.b --root \(root.path)`

        """)
    #expect(try run("grep", ["-r", "hunter2", root.path]).status == .exited(1))
    try write("whipBearer", "public", "--not-secret")
    #expect(try read("whipBearer") == "public\n")
    let json = root.file("secrets.json")
    try #"{"a": 1, "inner": {"password": "hunter2-secret"}}"#
      .write(toFile: json, atomically: false, encoding: .utf8)
    #expect(try framebus("defaults", "import", "studio", json).status == .exited(1))
    #expect(try framebus("defaults", "read", "studio", "a").status == .exited(1))
    try #require(
      framebus("defaults", "import", "studio", json, "--not-secret").status.isSuccess)
  }

  @Test(arguments: ["json", "xml", "binary"])
  func exportedSuiteCanBeImported(_ format: String) throws {
    try write("text", "<Grüße> & \"👋\"")
    try write("n", "42", "--type", "int")
    try write("x", "0.25", "--type", "double")
    try write("yes", "true", "--type", "bool")
    try write("icon", "AP8=", "--type", "data")
    try write("since", "100", "--type", "date")
    try write("page", "https://example.com", "--type", "url")
    try write("table", #"{"a": [true, 1, 1.5, "x", []], "b": {}}"#, "--type", "json")
    let file = root.file("out")
    let program = try pathOfProgram("framebus")
    let location = "--root \(root.path) --group a.b"
    try output(
      of: "sh",
      ["-c", "\(program) defaults export studio --format \(format) \(location) > \(file)"])
    try #require(framebus("defaults", "import", "copy", file).status.isSuccess)
    #expect(try framebus("defaults", "read", "copy", "--json").output == read("--json"))
    // JSON marks the types that it lacks; the suite has the values themselves.
    let group = try AppGroup.open(GroupID("a.b"), root: root.path)
    #expect(
      try SharedDefaults(suiteName: "copy", in: group).storedValues()
        == SharedDefaults(suiteName: "studio", in: group).storedValues())
    // From a pipe, replacing the present settings.
    try #require(framebus("defaults", "write", "copy", "extra", "1").status.isSuccess)
    try output(
      of: "sh", ["-c", "\(program) defaults import copy --replace \(location) < \(file)"])
    #expect(try framebus("defaults", "read", "copy", "--json").output == read("--json"))
  }

  @Test func propertyListOfAnotherProgramIsImported() throws {
    let file = root.file("other.plist")
    try """
    <?xml version="1.0" encoding="UTF-8"?>
    <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" \
    "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
    <plist version="1.0"><dict>
      <key>whipURL</key><string>https://video-api.local/whip/iphone</string>
      <key>one</key><integer>1</integer><key>on</key><true/>
      <key>when</key><date>2001-01-01T00:00:00Z</date>
    </dict></plist>
    """.write(toFile: file, atomically: false, encoding: .utf8)
    try #require(framebus("defaults", "import", "studio", file).status.isSuccess)
    #expect(
      try read() == """
        on  true
        one  1
        when  {"@date":978307200}
        whipURL  "https://video-api.local/whip/iphone"

        """)
  }

  @Test(arguments: ["", "[1]", "{\"a\": null}", "nonsense", "<plist><dict>", "bplist00"])
  func malformedSettingsAreNotImported(_ text: String) throws {
    let file = root.file("in")
    try text.write(toFile: file, atomically: false, encoding: .utf8)
    let result = try framebus("defaults", "import", "studio", file)
    #expect(result.status == .exited(1))
    #expect(result.errors.hasPrefix("error: these settings cannot be read: it is "))
    #expect(try framebus("defaults", "list").output == "")
  }

  @Test func watchPrintsChangesOfOtherProcesses() throws {
    let watch = try RunningProgram(
      "framebus",
      ["defaults", "watch", "studio", "fps", "--count", "2", "--root", root.path, "--group", "a.b"])
    try watch.waitForErrors("watching fps of studio")
    try write("fps", "30", "--type", "int")
    try watch.waitForOutput("fps  30\n")
    try #require(framebus("defaults", "remove", "studio", "fps").status.isSuccess)
    let result = try watch.finish()
    #expect(result.status.isSuccess)
    #expect(result.output == "fps  30\nfps  removed\n")
    let late = try framebus("defaults", "watch", "studio", "--timeout", "0", "--count", "1")
    #expect(late.status == .exited(1))
    #expect(late.errors.contains("error: timed out after 0 changes of studio; read"))
    let all = try RunningProgram(
      "framebus",
      ["defaults", "watch", "studio", "--json", "--root", root.path, "--group", "a.b"])
    try all.waitForErrors("watching studio")
    try write("page", "x", "--type", "url")
    try all.waitForOutput("{\"key\":\"page\",\"value\":{\"@url\":\"x\"}}\n")
    #expect(try all.end(with: SIGINT).status == .exited(130))
  }

  @Test(arguments: [
    ["read", "../x"], ["read"], ["write", "s", "k"], ["write", "s", "k", "x", "--type", "int"],
    ["write", "s", "k", "{", "--type", "json"], ["write", "s", "k", "maybe", "--type", "bool"],
    ["write", "s", "", "x"], ["write", "s", "k", "x", "--type", "number"],
    ["write", "s", "k", "5", "--type", "int", "--if-equals", "x"],
    ["export", "s", "--format", "yaml"], ["watch", "s", "--count", "0"],
    ["watch", "s", "--timeout", "-1"], ["frobnicate"],
  ])
  func wrongUsageHasStatus2AndSaysWhy(_ arguments: [String]) throws {
    let result = try run(
      "framebus", ["--root", root.path, "--group", "a.b", "defaults"] + arguments)
    #expect(result.status == .exited(2))
    #expect(result.output == "")
    #expect(result.errors.hasPrefix("error: "))
  }
}
