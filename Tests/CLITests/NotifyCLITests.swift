import Foundation
import TestSupport
import Testing

@testable import Platform

/// `framebus notify …` as a user runs it: command in; output, errors and status out.
@Suite struct NotifyCLITests {
  private let root: TemporaryRoot

  init() throws {
    root = try TemporaryRoot(mode: 0o755)
    try framebus("group", "create", "a.b").requireSuccess()
  }

  private func framebus(_ arguments: String...) throws -> ProgramResult {
    try run("framebus", ["--root", root.path, "--group", "a.b"] + arguments)
  }

  private func watch(_ arguments: String...) throws -> RunningProgram {
    let watch = try RunningProgram(
      "framebus", ["--root", root.path, "--group", "a.b", "notify", "watch"] + arguments)
    try watch.waitForErrors("watching")
    return watch
  }

  private func objects(_ result: ProgramResult) throws -> [[String: Any]] {
    try result.output.split(separator: "\n").map {
      try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
  }

  private func object(_ result: ProgramResult) throws -> Any {
    try JSONSerialization.jsonObject(with: Data(result.output.utf8))
  }

  @Test func watchShowsPosts() throws {
    let watch = try watch("go", "--count", "2", "--json")
    try framebus("notify", "post", "go").requireSuccess()
    try watch.waitForOutput("\n")
    try framebus("notify", "set-state", "go", "0x10").requireSuccess()
    try framebus("notify", "post", "go").requireSuccess()
    let result = try watch.finish()
    #expect(result.status == .exited(0))
    #expect(result.errors == "watching go\n")
    let deliveries = try objects(result)
    try #require(deliveries.count == 2)
    #expect(deliveries[0]["name"] as? String == "go")
    #expect(deliveries[0]["generation"] as? Int == 1)
    #expect(deliveries[0]["coalesced"] as? Int == 1)
    #expect(deliveries[0]["state"] as? Int == 0)
    #expect(deliveries[1]["generation"] as? Int == 2)
    #expect(deliveries[1]["state"] as? Int == 16)
  }

  /// The poster is unknown if the watcher polls after its post is counted and before it rings, as
  /// may be on a busy machine.
  @Test func watchShowsThePoster() throws {
    let isShown = try (0..<5).contains { _ in
      let watch = try watch("go", "--count", "1", "--json")
      let poster = try RunningProgram(
        "framebus", ["--root", root.path, "--group", "a.b", "notify", "post", "go"])
      try poster.finish().requireSuccess()
      let delivery = try #require(try objects(watch.finish()).first)
      return delivery["pid"] as? Int32 == poster.processID
        && delivery["uid"] as? Int == Int(getuid())
    }
    #expect(isShown)
  }

  @Test func aThousandPostsAreAllCounted() throws {
    let watch = try watch("go", "--timeout", "30", "--json")
    try framebus("notify", "post", "go", "--repeat", "1000").requireSuccess()
    try watch.waitForOutput("\"generation\":1000,")
    let deliveries = try objects(watch.end(with: SIGINT))
    #expect(deliveries.reduce(0) { $0 + ($1["coalesced"] as? Int ?? 0) } == 1000)
    for delivery in deliveries where delivery["coalesced"] as? Int != 1 {
      #expect(delivery["pid"] is NSNull)
    }
  }

  @Test func watchEndsByCountTimeoutAndInterrupt() throws {
    let byCount = try watch("go", "--count", "1")
    try framebus("notify", "post", "go").requireSuccess()
    let counted = try byCount.finish()
    #expect(counted.status == .exited(0))
    #expect(counted.output.hasPrefix("go  generation 1  coalesced 1  state 0"))
    let late = try framebus("notify", "watch", "go", "--timeout", "0.05")
    #expect(late.status == .exited(1))
    #expect(late.errors.contains("error: timed out with 0 deliveries of go"))
    let quiet = try framebus("notify", "watch", "go", "--timeout", "0", "--json", "--quiet")
    #expect(quiet.status == .exited(1))
    #expect(quiet.output + quiet.errors == "")
    #expect(try watch("go").end(with: SIGINT).status == .exited(130))
  }

  @Test func checkReportsWhetherThereWasAPost() throws {
    let never = try framebus("notify", "check", "go")
    #expect(never.status == .exited(1))
    #expect(never.output == "0\n")
    let posted = try framebus("notify", "post", "go", "--repeat", "2", "--json")
    #expect(posted.output == "{\n  \"generation\" : 2,\n  \"name\" : \"go\"\n}\n")
    let checked = try framebus("notify", "check", "go")
    #expect(checked.status == .exited(0))
    #expect(checked.output == "2\n")
    #expect(try framebus("notify", "check", "go", "--since", "2").status == .exited(1))
    #expect(try framebus("notify", "check", "go", "--since", "1").status == .exited(0))
    #expect(try framebus("notify", "check", "go", "--since", "9").status == .exited(0))
  }

  @Test func stateIsSetAndReadWithoutNotification() throws {
    #expect(try framebus("notify", "state", "go").output == "0\n")
    try framebus("notify", "set-state", "go", "18446744073709551615").requireSuccess()
    #expect(
      try framebus("notify", "state", "go", "--json").output
        == "{\n  \"generation\" : 0,\n  \"name\" : \"go\",\n  \"state\" : 18446744073709551615\n}\n"
    )
    for text in ["-1", "x", "0x", "18446744073709551616"] {
      let result = try framebus("notify", "set-state", "go", "--", text)
      #expect(result.status == .exited(2))
      #expect(result.errors.contains("“\(text)” is not a state"))
    }
  }

  @Test func listShowsCountsLastPosterAndObservers() throws {
    let empty = try framebus("notify", "list")
    #expect(empty.output == "")
    #expect(
      empty.errors
        == "no notification; `framebus notify post NAME --root \(root.path) --group a.b`"
        + " posts one\n")
    let watch = try watch("b")
    try framebus("notify", "post", "a", "--repeat", "3").requireSuccess()
    let all = try #require(try object(framebus("notify", "list", "--json")) as? [[String: Any]])
    try #require(all.map { $0["name"] as? String } == ["a", "b"])
    #expect(all[0]["generation"] as? Int == 3)
    #expect((all[0]["lastPoster"] as? [String: Int])?["uid"] == Int(getuid()))
    #expect((all[0]["observers"] as? [Any])?.isEmpty == true)
    let observers = try #require(all[1]["observers"] as? [[String: Int]])
    #expect(observers.map { $0["pid"] } == [Int(watch.processID)])
    let lines = try framebus("notify", "list").output.split(separator: "\n")
    #expect(lines.count == 3)
    #expect(lines[2].split(separator: " ").map(String.init) == ["b", "0", "0", "–", "1"])
    let dump = try framebus("notify", "dump", "b").output
    #expect(dump.hasPrefix("name        b\ngeneration  0\nstate       0 (0x0)\n"))
    #expect(dump.contains("last post   never\nobserver    pid \(watch.processID), uid"))
  }

  @Test func controlCharactersInNamesAreEscaped() throws {
    let name = "a\u{1b}[2J\r\nforged\u{202e}\u{9b}31m"
    let watch = try watch(name, "--count", "1")
    try framebus("notify", "post", name).requireSuccess()
    let outputs = try [
      watch.finish(), framebus("notify", "list"), framebus("notify", "dump"),
      framebus("notify", "watch", name, "--timeout", "0"),
    ]
    for text in outputs.flatMap({ [$0.output, $0.errors] }) {
      let lines = text.split(separator: "\n")
      #expect(!lines.contains { $0.hasPrefix("forged") })
      #expect(lines.allSatisfy { $0.plain == $0 })
    }
    #expect(outputs[1].output.contains("a\\u{1b}[2J\\u{d}\\u{a}forged\\u{202e}"))
  }

  @Test func usageErrorsAreDistinguishedFromRefusals() throws {
    let long = String(repeating: "x", count: 513)
    #expect(try framebus("notify", "post", long).status == .exited(2))
    #expect(try framebus("notify", "post", "go", "--repeat", "0").status == .exited(2))
    #expect(try framebus("notify", "watch", "go", "--count", "0").status == .exited(2))
    #expect(try framebus("notify", "watch", "go", "--timeout", "nan").status == .exited(2))
    let system = try framebus("notify", "post", "framebus.stream.x")
    #expect(system.status == .exited(1))
    #expect(
      system.errors == """
        error: the role host may not post “framebus.stream.x” in the group a.b: names beginning \
        with framebus. are FrameBus's own; choose another name

        """)
  }

  @Test func manifestPolicyIsEnforcedAndRefusalsAreAudited() throws {
    let manifest = root.path + "/state/a.b/manifest.toml"
    var text = try String(contentsOfFile: manifest, encoding: .utf8)
    text += "\n[notifications.host]\npost = [\"go.\"]\nset = []\n"
    try text.write(toFile: manifest, atomically: false, encoding: .utf8)
    try framebus("notify", "post", "go.on").requireSuccess()
    let refused = try framebus("notify", "post", "stop")
    #expect(refused.status == .exited(1))
    #expect(refused.errors.contains("only names that begin with “go.”"))
    let unset = try framebus("notify", "set-state", "go.on", "1")
    #expect(unset.errors.contains("it may not set any name"))
    try framebus("notify", "post", "stop", "--role", "capture").requireSuccess()
    let log = try String(
      contentsOfFile: root.path + "/state/a.b/audit/\(getuid()).log", encoding: .utf8)
    #expect(log.split(separator: "\n").count == 2)
    #expect(log.contains(" role host refused to post “stop”\n"))
    // Granting rewrites the manifest, and keeps the policy.
    try framebus("group", "grant", "viewer", "--uid", "1").requireSuccess()
    #expect(try framebus("notify", "post", "stop").status == .exited(1))
    let shown = try framebus("group", "show", "a.b").output
    #expect(shown.contains("notifications host  post go.…; set nothing\n"))
  }
}
