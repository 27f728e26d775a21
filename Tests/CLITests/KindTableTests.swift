import Capture
import Foundation
import TestSupport
import Testing
import Upload

/// Help and documentation agree with the tables of source and destination kinds.
@Suite struct KindTableTests {
  @Test func uploadHelpListsEachDestination() throws {
    let help = try help(of: "upload")
    for kind in DestinationKind.all {
      let line = "\(kind.forms.joined(separator: ", ")): \(kind.help)."
      #expect(help.contains(line), "\(line) is not in: \(help)")
      #expect(kind.help.count <= 60)
    }
  }

  @Test func uploadHelpGroupsSchemesBySecret() throws {
    let help = try help(of: "upload")
    #expect(help.contains("It is the passphrase of srt:, the stream key of rtmp: and rtmps:."))
  }

  @Test(arguments: ["upload", "capture", "view", "demo", "record", "play", "top", "log"])
  func headingsOfHelpEndWithOneColon(verb: String) throws {
    let result = try run("framebus", [verb, "--help"])
    let headings = result.output.split(separator: "\n").filter {
      $0.hasSuffix(":") && $0.first?.isUppercase == true
    }
    #expect(!headings.isEmpty && headings.allSatisfy { !$0.hasSuffix("::") }, "\(headings)")
  }

  @Test func captureHelpListsEachSource() throws {
    let (capture, broadcast) = try (help(of: "capture"), help(of: "broadcast", "start"))
    for kind in SourceKind.all {
      let help = kind.program == nil ? broadcast : capture
      let line = "\(kind.form): \(kind.help)."
      #expect(help.contains(line), "\(line) is not in: \(help)")
      #expect(kind.help.count <= 60)
    }
  }

  @Test func uploadPageHasTableOfDestinations() throws {
    let rows = DestinationKind.all.map { kind in
      let forms = kind.forms.map { "`\($0)`" }.joined(separator: ", ")
      let secret = kind.secret.map { "\($0.rawValue), `--\($0.option)`" } ?? "none"
      return "| \(forms) | \(kind.help) | \(secret) | \(kind.needs.rawValue) |"
    }
    let table =
      ["| destination | what it is | secret | sandbox grants |", "| --- | --- | --- | --- |"] + rows
    let page = try page("docs/design/upload.md")
    #expect(page.contains(table.joined(separator: "\n") + "\n\n"), "write:\n\(table)")
  }

  @Test func broadcastPageSaysWhichSourcesHaveAnOption() throws {
    let rows = try page("docs/design/broadcast.md").split(separator: "\n")
    for option in CaptureSettings.Option.allCases {
      let row = rows.first { $0.hasPrefix("| `--\(option.rawValue)") } ?? ""
      let kinds = SourceKind.all.filter { $0.options.contains(option) }.map { "`\($0.name)`" }
      #expect(row.hasSuffix("| \(kinds.joined(separator: ", ")) |"), "\(option): \(row)")
    }
  }

  /// An option without an effect is refused before anything is captured.
  @Test(arguments: [
    (["tone", "--orientation", "6"], "--orientation: no effect on the source tone", "--silence"),
    (["test", "--while-saver", "inhibit"], "--while-saver: no effect on the source test", "--fps"),
    (
      ["y4m:-", "--no-cursor", "--size", "8x8", "--no-protect"],
      "--size, --cursor, --no-protect: no effect on the source y4m", "it has --content, --fps"
    ),
    (["screen:99", "--silence", "3"], "--silence: no effect on the source screen", "--cursor"),
    (["gst:fakesrc", "--backend", "shm"], "--backend: no effect on the source gst", "--fps"),
    (["screen:99", "--content", "other"], "--content: no effect on the source screen", "--size"),
    (["test", "--sound", "a"], "--sound: the source test has no sound of its own", ""),
    (["test", "--kind", "mic"], "--kind: the source test has no sound", ""),
  ])
  func captureRefusesAnOptionThatItsSourceDoesNotHave(
    words: [String], message: String, known: String
  ) throws {
    let result = try run("framebus", ["capture"] + words)
    #expect(result.status == .exited(2), "\(result.errors)")
    for text in [message, known] where !text.isEmpty {
      #expect(result.errors.contains(text), "\(result.errors)")
    }
    let isOfBroadcast = words.contains { ["--silence", "--sound", "--kind"].contains($0) }
    if isOfBroadcast || words[0] == "y4m:-" { return }
    let broadcast = try run(
      "framebus", ["broadcast", "start", "x", "--source"] + words)
    #expect(broadcast.status == .exited(2), "\(broadcast.errors)")
    #expect(broadcast.errors.contains(message), "\(broadcast.errors)")
  }

  @Test func readmeNamesEachKind() throws {
    let lines = try page("README.md").split(separator: "\n")
    func names(in row: String) -> Set<String> {
      let line = lines.first { $0.hasPrefix("| \(row) |") } ?? ""
      let quoted = line.split(separator: "`", omittingEmptySubsequences: false).enumerated()
      return Set(quoted.filter { $0.offset % 2 == 1 }.map { $0.element.filter { $0 != ":" } })
    }
    #expect(names(in: "Sources") == Set(SourceKind.all.map(\.name)))
    #expect(names(in: "Destinations") == Set(DestinationKind.all.map(\.scheme)))
  }

  /// The help of a verb, without line breaks.
  private func help(of verb: String...) throws -> String {
    let result = try run("framebus", verb + ["--help"])
    #expect(result.status == .exited(0))
    return result.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }

  private func page(_ path: String) throws -> String {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    return try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }
}
