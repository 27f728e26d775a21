#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  /// `framebus bench upload` as a user runs it. Figures are not judged.
  @Suite struct UploadBenchTests {
    @Test func everyRowHasFiguresOfBusAndBarePipelines() throws {
      let program = try RunningProgram(
        "framebus", ["bench", "upload", "--seconds", "1", "--rounds", "1", "--peers", "--json"])
      let result = try program.finish(within: .seconds(300))
      #expect(result.status == .exited(0), "\(program.transcript)")
      let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
      let records = try #require(object as? [[String: Any]])
      for scenario in ["720p30", "1080p30"] {
        let own = records.filter { $0["scenario"] as? String == scenario }
        #expect(
          own.compactMap { $0["subject"] as? String } == ["framebus", "limit", "gstreamer"])
      }
      for record in records {
        #expect(record["suite"] as? String == "upload")
        for key in [
          "p50_ns", "p99_ns", "per_second", "cpu_ns_per_frame", "memory_bytes", "samples",
        ] {
          #expect(try #require(record[key] as? Double) > 0, "\(key) of \(record)")
        }
      }
    }

    @Test func severalDestinationsAreComparedWithOneAndWithSeveralUploads() throws {
      let program = try RunningProgram(
        "framebus",
        ["bench", "destinations", "--seconds", "1", "--rounds", "1", "--peers", "--json"])
      let result = try program.finish(within: .seconds(300))
      #expect(result.status == .exited(0), "\(program.transcript)")
      let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
      let records = try #require(object as? [[String: Any]])
      for scenario in ["1080p30", "1080p30, sound"] {
        let own = records.filter { $0["scenario"] as? String == scenario }
        #expect(
          own.compactMap { $0["subject"] as? String } == [
            "one destination", "three destinations", "three uploads", "gstreamer tee",
          ])
      }
      for record in records {
        for key in ["per_second", "cpu_ns_per_frame", "samples"] {
          #expect(try #require(record[key] as? Double) > 0, "\(key) of \(record)")
        }
      }
    }

    @Test func streamsAndPostsToOtherMachinesAreComparedWithBareLibraries() throws {
      let program = try RunningProgram(
        "framebus", ["bench", "link", "--seconds", "1", "--rounds", "1", "--json"])
      let result = try program.finish(within: .seconds(500))
      #expect(result.status == .exited(0), "\(program.transcript)")
      let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
      let records = try #require(object as? [[String: Any]])
      for scenario in ["1 stream", "4 streams", "16 streams"] {
        let own = records.filter { $0["scenario"] as? String == scenario }
        #expect(own.compactMap { $0["subject"] as? String } == ["framebus", "limit"])
        for record in own {
          for key in ["p50_ns", "p99_ns", "per_second", "cpu_ns_per_frame", "samples"] {
            #expect(try #require(record[key] as? Double) > 0, "\(key) of \(record)")
          }
        }
      }
      for scenario in [
        "post to one other machine at 100 Hz", "post to the last of 64 other machines at 10 Hz",
      ] {
        let own = records.filter { $0["scenario"] as? String == scenario }
        #expect(own.compactMap { $0["subject"] as? String } == ["framebus", "limit", "relayed"])
        for record in own {
          #expect(record["suite"] as? String == "link")
          for key in ["p50_ns", "samples"] {
            #expect(try #require(record[key] as? Double) > 0, "\(key) of \(record)")
          }
        }
      }
    }

    @Test func bitrateRowsHaveTimesOfChangesInBothDirections() throws {
      let program = try RunningProgram(
        "framebus", ["bench", "bitrate", "--seconds", "2", "--rounds", "1", "--json"])
      let result = try program.finish(within: .seconds(300))
      #expect(result.status == .exited(0), "\(program.transcript)")
      let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
      let records = try #require(object as? [[String: Any]])
      #expect(records.compactMap { $0["scenario"] as? String } == ["4M to 1M", "1M to 4M"])
      for record in records {
        #expect(record["samples"] as? Int == 1 && record["suite"] as? String == "bitrate")
        #expect(try #require(record["p50_ns"] as? Double) > 0, "\(record)")
      }
    }
  }
#endif
