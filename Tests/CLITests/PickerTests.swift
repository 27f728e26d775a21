import Foundation
import TestSupport
import Testing

/// `framebus broadcast pick`: on a terminal, and for a picker of the desktop's own.
@Suite struct PickerTests {
  private let root: TemporaryRoot
  private let location: [String]

  /// Two extensions, of which the second has a name for people.
  init() throws {
    root = try TemporaryRoot()
    location = ["--root", root.path, "--group", "a.b"]
    try output(of: "framebus", ["group", "create"] + location)
    for (id, lines) in [
      ("one.plain", ""), ("two.named", #"display-name = "Studio Köln"\#nicon = "/icons/two.png""#),
    ] {
      let path = root.file("\(id).toml")
      let text = "version = 1\nid = \"\(id)\"\nexecutable = \"framebus-upload\"\n\(lines)\n"
      try Data(text.utf8).write(to: URL(filePath: path))
      try output(of: "framebus", ["extension", "register", path] + location)
    }
  }

  /// Types keys when the list is shown.
  private func pick(_ keys: String) throws -> ProgramResult {
    let command = [try pathOfProgram("framebus"), "broadcast", "pick"] + location
    return try run(
      "/usr/bin/python3", [tool("type_answer.py"), "microphone: off", keys, "--"] + command,
      environment: ["TERM": "xterm"])
  }

  @Test(arguments: [
    ("", "one.plain --mic=off"), ("\u{1b}[B", "two.named --mic=off"),
    ("\u{1b}OB\u{1b}OA", "one.plain --mic=off"), ("2", "two.named --mic=off"),
    ("m\u{1b}[B\u{1b}[B", "two.named --mic=on"), ("mm", "one.plain --mic=off"),
  ])
  func keysPickExtensionAndMicrophone(keys: String, printed: String) throws {
    let result = try pick(keys)
    #expect(result.status == .exited(0))
    #expect(result.output.contains("\n\(printed)\r\n"), "\(result.output)")
    #expect(result.output.contains("Studio Köln (two.named)"))
  }

  @Test(arguments: [("\u{1b}", 1), ("q", 1), ("\u{3}", 130)])
  func escapeAndControlCPickNothing(keys: String, status: Int32) throws {
    let result = try pick(keys)
    #expect(result.status == .exited(status))
    #expect(!result.output.contains("--mic="))
    let text = try output(of: "framebus", ["broadcast", "status", "--json"] + location)
    let state = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
    #expect((state?["ending"] as? [String: Any])?["kind"] as? String == "cancelled", "\(text)")
  }

  @Test func preferredExtensionIsSelectedFirst() throws {
    let setting = ["defaults", "write", "a.b", "preferredExtension", "two.named"] + location
    try output(of: "framebus", setting)
    #expect(try pick("").output.contains("\ntwo.named --mic=off\r\n"))
  }

  /// With the same keys. Cancelled before anything starts, at the question for consent.
  @Test(arguments: [("\u{1b}[B", "two.named"), ("2", "two.named"), ("", "one.plain")])
  func startAsksAsThePickerDoes(keys: String, id: String) throws {
    let command = [try pathOfProgram("framebus"), "broadcast", "start"] + location
    let result = try run(
      "/usr/bin/python3",
      [tool("type_answer.py"), "microphone: off", keys, "Start this broadcast?", "no", "--"]
        + command, environment: ["TERM": "xterm"])
    #expect(result.status == .exited(1), "\(result.output)")
    #expect(result.output.contains("Studio Köln (two.named)"))
    #expect(result.output.contains("extension: \(id)"), "\(result.output)")
  }

  @Test func jsonListsWhatAPickerShows() throws {
    struct Report: Decodable {
      struct Extension: Decodable, Equatable {
        let id: String
        var displayName: String?
        var icon: String?
      }
      let preferred: String?
      let microphone: Bool
      let extensions: [Extension]
    }
    let text = try output(of: "framebus", ["broadcast", "pick", "--json"] + location)
    let report = try JSONDecoder().decode(Report.self, from: Data(text.utf8))
    #expect(report.preferred == nil && !report.microphone)
    #expect(
      report.extensions == [
        .init(id: "one.plain"),
        .init(id: "two.named", displayName: "Studio Köln", icon: "/icons/two.png"),
      ])
  }

  @Test func pickWithoutTerminalIsAUsageError() throws {
    let result = try run("framebus", ["broadcast", "pick"] + location)
    #expect(result.status == .exited(2))
    #expect(result.errors.contains("--json"))
  }
}
