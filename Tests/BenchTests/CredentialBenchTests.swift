import Foundation
import Platform
import TestSupport
import Testing

/// `framebus bench credential` as a user runs it. Figures are not judged: speed does not belong in
/// tests.
@Suite struct CredentialBenchTests {
  @Test func everyRowHasFiguresOfStoreAndBaseline() throws {
    let arguments = ["bench", "credential", "--seconds", "0.1", "--rounds", "1", "--json"]
    let result = try run("framebus", arguments, within: .seconds(600))
    #expect(result.status == .exited(0), "\(result.errors)")
    let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
    let records = try #require(object as? [[String: Any]])
    for subject in ["framebus", "limit"] {
      let own = records.filter { $0["subject"] as? String == subject }
      #expect(
        own.compactMap { $0["scenario"] as? String } == [
          "get one of 10", "get one of 10,000", "open the store and get one of 10",
          "open the store and get one of 10,000", "open the store and list 10,000",
        ])
    }
    for record in records {
      #expect(record["suite"] as? String == "credential")
      #expect(try #require(record["samples"] as? Int) > 0, "\(record)")
      #expect(try #require(record["p50_ns"] as? Int) > 0, "\(record)")
    }
  }
}
