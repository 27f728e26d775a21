import Foundation
import Platform
import TestSupport
import Testing

/// `framebus bench log` as a user runs it. Figures are not judged: speed does not belong in tests.
@Suite struct LogBenchTests {
  @Test func everyRowHasFiguresOfLogAndBaseline() throws {
    let result = try run("framebus", ["bench", "log", "--rounds", "1", "--json"])
    #expect(result.status == .exited(0), "\(result.errors)")
    let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
    let records = try #require(object as? [[String: Any]])
    for scenario in ["call", "lines", "lines on the disk"] {
      let own = records.filter { $0["scenario"] as? String == scenario }
      #expect(
        own.compactMap { $0["subject"] as? String }
          == ["framebus", "limit", "framebus, swift-log"])
    }
    for scenario in ["merge 8 processes", "follow"] {
      let own = records.filter { $0["scenario"] as? String == scenario }
      #expect(own.compactMap { $0["subject"] as? String } == ["framebus"])
    }
    for record in records {
      #expect(record["suite"] as? String == "log")
      for key in ["p50_ns", "p99_ns", "p999_ns", "per_second", "samples"] {
        #expect(try #require(record[key] as? Double) > 0, "\(key) of \(record)")
      }
    }
  }
}
