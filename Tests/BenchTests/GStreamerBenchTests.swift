import Foundation
import TestSupport
import Testing

/// `framebus bench gstreamer` as a user runs it. Figures are not judged.
@Suite struct GStreamerBenchTests {
  private static let isBuilt = (try? pathOfProgram("PipelineFramebus")) != nil

  @Test(.enabled(if: isBuilt, "PipelineFramebus is missing: scripts/peers"))
  func everyRowHasFiguresOfThePluginAndOfTheLibrary() throws {
    let result = try run(
      "framebus",
      ["bench", "gstreamer", "--seconds", "0.1", "--rounds", "1", "--json"])
    #expect(result.status == .exited(0), "\(result.errors)")
    let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
    let records = try #require(object as? [[String: Any]])
    for subject in ["framebus", "framebus-c"] {
      let own = records.filter { $0["subject"] as? String == subject }
      #expect(Set(own.compactMap { $0["scenario"] as? String }).count == 6)
      for record in own {
        #expect(try #require(record["samples"] as? Int) > 0, "\(record)")
        #expect(try #require(record["cpu_ns_per_frame"] as? Int) > 0, "\(record)")
      }
    }
  }
}
