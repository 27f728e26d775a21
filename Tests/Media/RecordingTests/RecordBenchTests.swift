import Foundation
import Platform
import TestSupport
import Testing

@Suite struct RecordBenchTests {
  @Test func recorderIsMeasuredAgainstPlainDirectWrites() throws {
    let result = try run(
      "framebus", ["bench", "record", "--rounds", "1", "--seconds", "1", "--json"])
    #expect(result.status == .exited(0), "\(result.errors)")
    let records = try #require(
      try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [[String: Any]])
    #expect(records.compactMap { $0["subject"] as? String } == ["framebus", "limit"])
    for record in records {
      #expect(record["suite"] as? String == "record")
      #expect(record["samples"] as? Int == 30)
      #expect(try #require(record["per_second"] as? Double) > 0)
    }
  }
}
