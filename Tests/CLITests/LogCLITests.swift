import Foundation
import TestSupport
import Testing

@testable import Platform

/// `framebus log …` as a user runs it: command in; output, errors and status out.
@Suite struct LogCLITests {
  private let root: TemporaryRoot

  init() throws {
    root = try TemporaryRoot(mode: 0o755)
    try framebus("group", "create", "a.b").requireSuccess()
  }

  private func arguments(_ arguments: [String]) -> [String] {
    ["--root", root.path, "--group", "a.b"] + arguments
  }

  private func framebus(_ arguments: String...) throws -> ProgramResult {
    try run("framebus", self.arguments(arguments))
  }

  private func objects(_ text: String) throws -> [[String: Any]] {
    try text.split(separator: "\n").map {
      try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
  }

  @Test func lineIsShownAsTextAndAsJSON() throws {
    try framebus(
      "log", "append", "it is cold", "--level", "warning", "--label", "weather", "--metadata",
      "degrees=-3"
    ).requireSuccess()
    let text = try framebus("log")
    #expect(text.errors == "")
    let line = try #require(text.output.split(separator: "\n").first)
    #expect(line.contains("Z warning  host["))
    #expect(line.hasSuffix("] weather: it is cold degrees=-3"))
    let object = try #require(objects(framebus("log", "--json").output).first)
    #expect(object["message"] as? String == "it is cold")
    #expect(object["level"] as? String == "warning")
    #expect(object["label"] as? String == "weather")
    #expect(object["role"] as? String == "host")
    #expect(object["sequence"] as? Int == 1)
    #expect(object["metadata"] as? [String: String] == ["degrees": "-3"])
    #expect(object["source"] as? String == "")
    #expect(object["monotonicNs"] is Int && object["pid"] is Int && object["session"] is String)
    let time = try #require(object["time"] as? String)
    #expect(line.hasPrefix(time))
    let formatter = ISO8601DateFormatter()
    formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
    let date = try #require(formatter.date(from: time))
    #expect(abs(date.timeIntervalSinceNow) < 3600)
  }

  @Test(arguments: [[], ["--follow"], ["--export", "."]])
  func unknownRoleIsUsageErrorThatNamesRoles(options: [String]) throws {
    let result = try run(
      "framebus", arguments(["log", "--role", "nobody"] + options), directory: root.path)
    #expect(result.status == .exited(2))
    #expect(result.output == "")
    #expect(
      result.errors
        == "error: --role nobody: the group a.b has only the roles capture, extension, host\n")
  }

  @Test func logWithoutMatchingLineSaysSo() throws {
    for filter in [[], ["--role", "capture"], ["--grep", "rain"]] {
      let result = try run("framebus", arguments(["log"] + filter))
      #expect(result.status == .exited(0))
      #expect(result.output == "")
      #expect(result.errors == "no line of the log matches\n")
    }
    try framebus("log", "append", "it rains").requireSuccess()
    #expect(try framebus("log", "--grep", "rain").errors == "")
  }

  @Test func lineContentNeverReachesATerminalUnescaped() throws {
    try framebus("log", "append", "a\nb\u{1b}[2Jc\u{202e}d\u{7}", "--label", "x\ny")
      .requireSuccess()
    let output = try framebus("log").output
    #expect(output.hasSuffix("] x\\u{a}y: a\\u{a}b\\u{1b}[2Jc\\u{202e}d\\u{7}\n"))
    #expect(output.filter { $0 == "\n" }.count == 1)
    let message = try objects(framebus("log", "--json").output)[0]["message"] as? String
    #expect(message == "a\nb\u{1b}[2Jc\u{202e}d\u{7}")
  }

  @Test func linesAreChosen() throws {
    try framebus("log", "append", "one red", "--level", "debug", "--label", "a").requireSuccess()
    try framebus("log", "append", "two red", "--level", "error", "--label", "b").requireSuccess()
    try framebus("log", "append", "three", "--metadata", "k=v", "--role", "capture")
      .requireSuccess()
    func chosen(_ options: String...) throws -> [String] {
      let result = try run("framebus", arguments(["log", "--json"] + options))
      return try objects(result.output).compactMap { $0["message"] as? String }
    }
    #expect(try chosen() == ["one red", "two red", "three"])
    #expect(try chosen("--level", "info") == ["two red", "three"])
    #expect(try chosen("--grep", "red") == ["one red", "two red"])
    #expect(try chosen("--label", "a", "--label", "b") == ["one red", "two red"])
    #expect(try chosen("--metadata", "k=v") == ["three"])
    #expect(try chosen("--role", "capture") == ["three"])
    #expect(try chosen("--since", "1h") == ["one red", "two red", "three"])
    #expect(try chosen("--since", "2099-01-01T00:00:00Z") == [])
  }

  @Test func followShowsNewLinesAndEndsOnCtrlC() throws {
    try framebus("log", "append", "before").requireSuccess()
    let follow = try RunningProgram("framebus", arguments(["log", "--follow"]))
    try follow.waitForOutput("before\n")
    for number in 1...3 { try framebus("log", "append", "line \(number)").requireSuccess() }
    try follow.waitForOutput("line 3\n")
    let result = try follow.end(with: SIGINT)
    #expect(result.status == .exited(130))
    let messages = result.output.split(separator: "\n").map { $0.split(separator: "] ").last }
    #expect(messages == ["before", "line 1", "line 2", "line 3"])
  }

  @Test func lastWordsOfAProcessAreShown() throws {
    let append = try RunningProgram("framebus", arguments(["log", "append", "farewell"]))
    try append.finish().requireSuccess()
    try framebus("log", "append", "another").requireSuccess()
    let words = try framebus("log", "--last-words", "\(append.processID)")
    #expect(words.output.hasSuffix("] farewell\n"))
    let none = try framebus("log", "--last-words", "4294967295")
    #expect(none.status == .exited(1))
    #expect(none.errors.contains("error: the log has no line of process 4294967295"))
  }

  @Test func exportCopiesAndMoveRemovesFiles() throws {
    let folder = root.file("mine")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    func copies() throws -> [[[String: Any]]] {
      try FileManager.default.contentsOfDirectory(atPath: folder).sorted().map { name in
        #expect(name.hasPrefix("a.b-") && name.hasSuffix(".jsonl"))
        return try objects(String(contentsOfFile: folder + "/" + name, encoding: .utf8))
      }
    }
    try framebus("log", "append", "one").requireSuccess()
    try framebus("log", "append", "two").requireSuccess()
    let exported = try framebus("log", "--export", folder)
    #expect(exported.status == .exited(0))
    #expect(exported.errors.contains(".jsonl: 2 lines\n"))
    #expect(try copies().map { $0.compactMap { $0["message"] as? String } } == [["one", "two"]])
    let moved = try framebus("log", "--move", folder)
    #expect(moved.errors.contains(".jsonl: 2 lines, 2 files moved\n"))
    #expect(try framebus("log").output == "")
    #expect(try copies().count == 2)
    let nowhere = try framebus("log", "--export", root.file("none"))
    #expect(nowhere.status == .exited(1))
    #expect(nowhere.errors.contains("none: No such file or directory"))
  }

  @Test func misuseIsDistinguishedFromFailures() throws {
    for wrong in [
      ["append"], ["append", "x", "--level", "loud"], ["append", "x", "--metadata", "k"],
      ["--level", "loud"], ["--since", "yesterday"], ["--metadata", "k"], ["--role", "A B"],
      ["--export", "a", "--move", "b"], ["--follow", "--last-words", "1"],
    ] {
      let result = try run("framebus", arguments(["log"] + wrong))
      #expect(result.status == .exited(2), "\(wrong)")
      #expect(result.errors.hasPrefix("error: "), "\(wrong)")
    }
    let stranger = try run("framebus", ["--root", root.path, "--group", "c.d", "log"])
    #expect(stranger.status == .exited(1))
  }
}
