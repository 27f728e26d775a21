import Foundation
import LogSinks
import TestSupport

/// Reads the entries of one identifier from systemd's journal (`journalctl(1)`).
struct JournalReader {
  static var isHere: Bool { FileManager.default.fileExists(atPath: JournalSink.usualPath) }

  let identifier = "framebus-test-\(UInt64.random(in: 0...UInt64.max))"

  /// All entries, with their text fields.
  func entries() throws -> [[String: String]] {
    try output(of: "journalctl", ["--sync"])
    let lines = try output(
      of: "journalctl", ["--all", "--output=json", "SYSLOG_IDENTIFIER=\(identifier)"])
    return try lines.split(separator: "\n").map { line in
      let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
      return object.compactMapValues { $0 as? String }
    }
  }
}
