import Foundation
import LogSinks
import SharedLog
import TestSupport
import Testing

/// Lines also go to a journal and to a JSON file, where their content cannot forge fields or lines.
@Suite struct SinkTests {
  private let world: LogWorld

  init() throws { world = try LogWorld() }

  private struct Entry: Decodable {
    let fields: [String: String]
    let isSealed: Bool
  }

  /// A journal at its own path that receives a number of lines.
  private func journal(_ count: Int) throws -> (path: String, program: RunningProgram) {
    let path = world.root.file("journal")
    let program = try RunningProgram("python3", [Self.reader, path, "\(count)"])
    try program.waitForOutput("ready")
    return (path, program)
  }

  private static let reader = tool("journal.py")

  private func entries(of journal: RunningProgram) throws -> [Entry] {
    let result = try journal.finish()
    #expect(result.status.isSuccess, "\(result.errors)")
    return try result.output.split(separator: "\n").dropFirst().map {
      try JSONDecoder().decode(Entry.self, from: Data($0.utf8))
    }
  }

  @Test func journalReceivesEachLineWithItsFields() throws {
    let (path, journal) = try journal(3)
    let sink = try JournalSink(identifier: "weather", path: path)
    let log = try world.log { $0.sinks = [sink] }
    let line = #line + 1
    log.append(
      .warning, "it is cold", label: "sky",
      metadata: [LogField("degrees", "-3"), LogField("who", "carol", isPrivate: true)])
    log.append(
      .info, "a\nPRIORITY=0\nMESSAGE=forged",
      metadata: [LogField("message", "x\0\u{1b}\ny"), LogField("label", "forged")])
    let long = String(repeating: "é", count: 500_000)
    log.append(.critical, long)
    let entries = try entries(of: journal)
    try #require(entries.count == 3)
    #expect(
      entries[0].fields == [
        "MESSAGE": "it is cold", "PRIORITY": "4", "SYSLOG_IDENTIFIER": "weather",
        "CODE_FILE": "SharedLogTests/SinkTests.swift", "CODE_LINE": "\(line)",
        "FRAMEBUS_LABEL": "sky", "FRAMEBUS_FIELD_DEGREES": "-3",
        "FRAMEBUS_FIELD_WHO": "<private>",
      ])
    #expect(entries[1].fields["MESSAGE"] == "a\nPRIORITY=0\nMESSAGE=forged")
    #expect(entries[1].fields["PRIORITY"] == "6")
    #expect(entries[1].fields["FRAMEBUS_FIELD_MESSAGE"] == "x\0\u{1b}\ny")
    #expect(entries[1].fields["FRAMEBUS_FIELD_LABEL"] == "forged")
    #expect(entries[1].fields["FRAMEBUS_LABEL"] == nil)
    #expect(entries[2].fields["MESSAGE"] == long)
    #expect(entries[2].isSealed && !entries[0].isSealed)
    #expect(sink.droppedCount == 0)
    // The group's own log is unaffected.
    #expect(try world.messages().count == 3)
  }

  @Test(.enabled(if: JournalReader.isHere, "systemd's journal does not run here"))
  func systemdsJournalShowsEachLineWithItsFields() throws {
    let reader = JournalReader()
    let sink = try JournalSink(identifier: reader.identifier)
    let long = String(repeating: "é", count: 200_000)
    for message in ["it is cold", "a\nPRIORITY=0\nMESSAGE=forged", long] {
      sink.append(
        LogLine(
          .warning, message, label: "sky",
          metadata: [LogField("degrees", "-3"), LogField("who", "carol", isPrivate: true)]))
    }
    let entries = try reader.entries()
    #expect(entries.map { $0["MESSAGE"] } == ["it is cold", "a\nPRIORITY=0\nMESSAGE=forged", long])
    for entry in entries {
      #expect(entry["PRIORITY"] == "4")
      #expect(entry["FRAMEBUS_LABEL"] == "sky")
      #expect(entry["FRAMEBUS_FIELD_DEGREES"] == "-3")
      #expect(entry["FRAMEBUS_FIELD_WHO"] == "<private>")
      #expect(entry["_PID"] == "\(getpid())")
    }
    #expect(sink.droppedCount == 0)
  }

  @Test func linesForMissingJournalAreCountedAndItsReturnIsNoticed() throws {
    let (path, first) = try journal(1)
    let sink = try JournalSink(identifier: "test", path: path)
    sink.append(LogLine(.info, "one"))
    #expect(try entries(of: first).count == 1)
    sink.append(LogLine(.info, "two"))
    #expect(sink.droppedCount == 1)
    try FileManager.default.removeItem(atPath: path)
    let (_, second) = try journal(1)
    sink.append(LogLine(.info, "three"))
    #expect(try entries(of: second).map { $0.fields["MESSAGE"] } == ["three"])
    #expect(sink.droppedCount == 1)
  }

  @Test func jsonFileHasOneObjectPerLineForAnyContent() throws {
    let path = world.root.file("lines.jsonl")
    let sink = try JSONLinesSink(path: path)
    let log = try world.log { $0.sinks = [sink] }
    let messages = ["plain", "two\nlines", "\"\\\u{0}\u{1b}\u{7f}\u{2028}", "🎥"]
    for message in messages {
      log.append(
        .notice, message, label: message,
        metadata: [LogField("k", message), LogField("who", "carol", isPrivate: true)])
    }
    let text = try String(contentsOfFile: path, encoding: .utf8)
    let objects = try text.split(separator: "\n").map {
      try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
    #expect(objects.map { $0["message"] as? String } == messages)
    #expect(objects.map { $0["label"] as? String } == messages)
    for (object, message) in zip(objects, messages) {
      #expect(object["metadata"] as? [String: String] == ["k": message, "who": "<private>"])
      #expect(object["level"] as? String == "notice")
      #expect(object["pid"] as? Int == Int(getpid()))
      #expect((object["source"] as? String)?.hasPrefix("SharedLogTests/SinkTests.swift:") == true)
      #expect((object["time"] as? String)?.hasSuffix("Z") == true)
    }
  }

  @Test func fullFileIsRenamedAndNoLineIsTorn() throws {
    let path = world.root.file("lines.jsonl")
    let sink = try JSONLinesSink(path: path, limit: 10_000)
    for number in 1...100 { sink.append(LogLine(.info, "line \(number)")) }
    let kept = try [path + ".old", path].flatMap {
      try String(contentsOfFile: $0, encoding: .utf8).split(separator: "\n")
    }
    let messages = try kept.map {
      try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])["message"]
        as? String
    }
    #expect(messages == (101 - kept.count...100).map { "line \($0)" })
    #expect(kept.count > 40)
    #expect(sink.droppedCount == 0)
  }
}
