import Foundation
import Platform
import TestSupport
import Testing

/// `framebus bench defaults` as a user runs it. Figures are not judged.
@Suite struct DefaultsBenchTests {
  @Test func everyRowHasFiguresOfSettingsAndBaseline() throws {
    let arguments = ["bench", "defaults", "--seconds", "0.5", "--rounds", "1", "--json"]
    let result = try run("framebus", arguments)
    #expect(result.status == .exited(0), "\(result.errors)")
    let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
    let records = try #require(object as? [[String: Any]])
    let writes: Set = ["write, no observer", "write to observer at 100 Hz"]
    for (subject, scenarios) in ["framebus": writes.union(["read"]), "limit": writes] {
      let own = records.filter { $0["subject"] as? String == subject }
      #expect(Set(own.compactMap { $0["scenario"] as? String }) == scenarios)
    }
    for record in records {
      #expect(record["suite"] as? String == "defaults")
      #expect(try #require(record["samples"] as? Int) > 0, "\(record)")
      #expect(record["p50_ns"] is Int, "\(record)")
    }
  }
}
