import Foundation
import Platform
import TestSupport
import Testing

/// `framebus bench notify` as a user runs it. Figures are not judged: speed does not belong in
/// tests.
@Suite struct NotifyBenchTests {
  private let timed: Set = [
    "post, no observer", "post to observer at 1 kHz", "post to the last of 64 observers at 50 Hz",
    "post, 256 observers, at 20 Hz",
  ]
  private let counted: Set = ["posts to one observer", "posts to one busy observer"]

  @Test func everyRowHasFiguresOfNotificationsAndBaselines() throws {
    let arguments = ["bench", "notify", "--seconds", "0.2", "--rounds", "1", "--json"]
    let result = try run("framebus", arguments, within: .seconds(300))
    #expect(result.status == .exited(0), "\(result.errors)")
    let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
    let records = try #require(object as? [[String: Any]])
    for subject in ["framebus", "limit", "futex"] {
      let own = records.filter { $0["subject"] as? String == subject }
      let scenarios = Set(own.compactMap { $0["scenario"] as? String })
      let checks: Set = subject == "framebus" ? ["check"] : []
      #expect(scenarios == timed.union(counted).union(checks))
    }
    for record in records {
      #expect(record["suite"] as? String == "notify")
      let samples = try #require(record["samples"] as? Int)
      // A baseline's sample needs all 64 observers to be awake, which a busy machine may not have.
      #expect(samples > 0 || record["subject"] as? String == "futex", "\(record)")
      #expect(try #require(record["per_second"] as? Double) > 0, "\(record)")
      let isCounted = counted.contains(try #require(record["scenario"] as? String))
      #expect((record["p50_ns"] is NSNull) == (isCounted || samples == 0), "\(record)")
    }
  }
}
