import Foundation
import TestSupport
import Testing

@testable import Platform

/// Untrusted text never controls the terminal, whichever verb shows it.
@Suite struct TerminalTests {
  private let root: TemporaryRoot
  /// Titles, a cleared screen, DEL, C1, right to left, isolates, line separators: U+001B, U+0007,
  /// U+007F, U+009B, U+202E, U+2066, U+2028 and U+2029.
  private static let attack =
    "\u{1b}]0;title\u{7}\u{1b}[2J\u{7f}\u{9b}31m\u{202e}\u{2066}\u{2028}\u{2029}\u{85}end"

  init() throws {
    root = try TemporaryRoot()
    try framebus("group", "create").requireSuccess()
  }

  private var location: [String: String?] {
    ["FRAMEBUS_HOME": root.path, "FRAMEBUS_GROUP": "a.b", "NO_COLOR": "1"]
  }

  @discardableResult
  private func framebus(_ arguments: String...) throws -> ProgramResult {
    try run("framebus", arguments, environment: location)
  }

  /// Runs `framebus …` with a terminal as its output.
  /// - Returns: its output on both streams.
  private func onTerminal(_ arguments: [String]) throws -> String {
    try run(
      "python3", [tool("on_terminal.py"), pathOfProgram("framebus")] + arguments,
      environment: location
    ).output
  }

  private func file(_ name: String, _ text: String) throws -> String {
    try Data(text.utf8).write(to: URL(fileURLWithPath: root.file(name)))
    return root.file(name)
  }

  /// Expects text without control characters.
  private func expectPlain(_ text: String, _ verb: [String]) {
    let lines = text.replacing("\r\n", with: "\n").replacing("\r\u{1b}[K", with: "\n")
    for scalar in lines.unicodeScalars where scalar != "\n" && scalar != "\t" {
      let category = scalar.properties.generalCategory
      let steers: [Unicode.GeneralCategory] = [
        .control, .format, .lineSeparator, .paragraphSeparator,
      ]
      guard steers.contains(category) else { continue }
      Issue.record("\(verb.first ?? "") wrote U+\(String(scalar.value, radix: 16)): \(text.plain)")
      return
    }
  }

  @Test func verbsEscapeUntrustedTextOnATerminal() throws {
    let attack = Self.attack
    try framebus("defaults", "write", "s", "key", attack).requireSuccess()
    try framebus("log", "append", attack, "--label", attack, "--metadata", "k=\(attack)")
      .requireSuccess()
    try framebus("notify", "post", "name\(attack)")
    let manifest = """
      id = "x.y"
      executable = "/bin/true"
      arguments = ["\\u001B]0;title\\u0007", "\\u202E", "\\u009B"]
      """
    let path = try file("manifest", manifest)
    try framebus("extension", "register", path)
    let y4m = [
      try file("rate.y4m", "YUV4MPEG2 W4 H4 F\(attack)\n"),
      try file("chroma.y4m", "YUV4MPEG2 W4 H4 F1:1 C\(attack)\n"),
      try file("mode.y4m", "YUV4MPEG2 W4 H4 F1:1 I\(attack.prefix(6))\n"),
    ]
    let recording = try file("a\u{1b}]0;title\u{7}\u{9b}b", attack)
    var verbs = [
      ["defaults", "read", "s"], ["defaults", "read", "s", "key"],
      ["defaults", "read", "s", "key", "--json"], ["defaults", "read", "s", "--json"],
      ["defaults", "export", "s"], ["defaults", "export", "s", "--format", "xml"],
      ["defaults", "read", "s", attack], ["defaults", "read", attack],
      ["defaults", "write", "s", "k", attack, "--type", "int"],
      ["defaults", "import", "s", recording], ["defaults", "list"],
      ["log"], ["log", "--json"], ["log", "--since", attack], ["log", "--export", recording],
      ["notify", "list"], ["notify", "list", "--json"], ["notify", "show", attack],
      ["notify", "watch", "x\(attack)", "--timeout", "0.01"],
      ["extension", "list"], ["extension", "show", "x.y"], ["extension", "show", "x.y", "--json"],
      ["extension", "show", attack], ["extension", "register", recording],
      ["extension", "remove", attack], ["broadcast", "start", attack],
      ["credential", "show", attack, attack], ["credential", "import", recording],
      ["semaphore", "show", attack], ["semaphore", "create", attack],
      ["semaphore", "wait", "gate", "--", recording],
      ["play", recording], ["record", "--stream", attack, "--timeout", "0.01"],
      ["snapshot", recording, "--stream", attack], ["streams", "--group", attack],
      ["group", "show", "--group", attack], ["group", "remove", attack],
      ["group", "list", "--root", recording], ["group", "grant", attack, "--uid", "1"],
      ["capture", attack], [attack], ["log", "--\(attack)"], ["doctor", attack],
      ["top", "--count", attack], ["upload", attack], ["whip", "probe", attack],
    ]
    verbs += y4m.map { ["capture", "y4m:" + $0] }
    for verb in verbs {
      expectPlain(try onTerminal(verb), verb)
      // Errors are human-readable wherever they go.
      let piped = try run("framebus", verb, environment: location)
      expectPlain(piped.errors, verb)
      if verb.contains("--json") { expectPlain(piped.output, verb) }
    }
  }

  @Test func dataIsUnchangedOutsideATerminal() throws {
    let attack = Self.attack + "\nline\ttab"
    try framebus("defaults", "write", "s", "key", attack).requireSuccess()
    #expect(try framebus("defaults", "read", "s", "key").output == attack + "\n")
    let secret = try file("secret", attack)
    let set = try run(
      "sh", ["-c", "\"$0\" credential set s a < \(secret)", pathOfProgram("framebus")],
      environment: location)
    try set.requireSuccess()
    #expect(try framebus("credential", "get", "s", "a").output == attack)
    let shown = try onTerminal(["credential", "get", "s", "a"])
    expectPlain(shown, ["credential get"])
    #expect(shown.hasSuffix("end\r\nline\ttab"))
    #expect(try onTerminal(["defaults", "read", "s", "key"]).hasSuffix("end\r\nline\ttab\r\n"))
    // Escaped JSON has the same value.
    let json = try framebus("defaults", "read", "s", "--json").output
    let values = try JSONDecoder().decode([String: String].self, from: Data(json.utf8))
    #expect(values == ["key": attack])
    expectPlain(json, ["defaults read --json"])
    try framebus("log", "append", Self.attack).requireSuccess()
    let line = try framebus("log", "--json").output
    let record = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
    #expect(record?["message"] as? String == Self.attack)
  }
}
