#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  /// `framebus bench` as a user runs it. Figures are not judged: speed does not belong in tests.
  @Suite(.serialized) struct CaptureBenchTests {
    private let keys: Set = [
      "suite", "scenario", "subject", "p50_ns", "p99_ns", "p999_ns", "per_second",
      "cpu_ns_per_frame", "samples",
    ]

    private func bench(_ arguments: [String]) throws -> RunningProgram {
      try RunningProgram("framebus", ["bench"] + arguments)
    }

    /// The directory that a run made, by the arguments of the processes that it started.
    private func folder(of program: RunningProgram) throws -> String {
      var folder: Substring?
      try waitUntil("a process names the directory: \(program.transcript)") {
        let commands = try ProcessFacts(program.processID).children.map { $0.shown("cmdline") }
        folder =
          commands.lazy.compactMap {
            $0.firstMatch(of: /\/tmp\/framebus-bench-capture-[0-9a-z]+/)?.output
          }.first
        return folder != nil
      }
      return String(try #require(folder))
    }

    @Test func shortRunReportsFramebusAndBaseline() throws {
      let program = try bench(["capture", "--seconds", "1", "--rounds", "1", "--json"])
      let folder = try folder(of: program)
      let result = try program.finish()
      #expect(result.status == .exited(0), "\(program.transcript)")
      let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
      let records = try #require(object as? [[String: Any]])
      #expect(Set(records.compactMap { $0["subject"] as? String }) == ["framebus", "limit"])
      var counts: [Substring: Int] = [:]
      for record in records {
        let what = (record["scenario"] as? String ?? "").prefix { $0 != "," }
        counts[what, default: 0] += 1
        // Their pictures carry numbers.
        let isNumbered = ["Wayland", "PipeWire"].contains(what)
        #expect(
          Set(record.keys).subtracting(["rounds", "unit"])
            == (isNumbered ? keys.union(["skipped", "longest_skip"]) : keys), "\(record)")
        #expect(record["suite"] as? String == "capture")
        #expect(record["scenario"] is String)
        #expect(try #require(record["samples"] as? Int) > 0, "\(record)")
        #expect(try #require(record["cpu_ns_per_frame"] as? Int) > 0, "\(record)")
        #expect(record["p999_ns"] is NSNull)
      }
      let whole = try #require(
        records.first { $0["subject"] as? String == "framebus" && $0["p50_ns"] is Int })
      let (middle, late) = (whole["p50_ns"] as? Int ?? 0, whole["p99_ns"] as? Int ?? 0)
      #expect(middle > 0 && late >= middle)
      #expect(counts["Wayland", default: 0] == (SwaySession.isAvailable ? 2 : 0))
      #expect(counts["PipeWire", default: 0] == (PipeWireSession.isAvailable ? 2 : 0))
      #expect(!FileManager.default.fileExists(atPath: folder))
    }

    @Test(.enabled(if: SwaySession.isAvailable, "needs sway: scripts/setup --test"))
    func pacingCountsShownAndSkippedPictures() throws {
      let program = try bench(["pacing", "--seconds", "2", "--rounds", "1", "--json"])
      let folder = try folder(of: program)
      let result = try program.finish()
      #expect(result.status == .exited(0), "\(program.transcript)")
      let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
      let records = try #require(object as? [[String: Any]])
      #expect(records.compactMap { $0["subject"] as? String } == ["framebus", "limit"])
      for record in records {
        #expect(record["suite"] as? String == "pacing")
        #expect(try #require(record["samples"] as? Int) > 0, "\(record)")
        #expect(try #require(record["p50_ns"] as? Int) > 0, "\(record)")
        let skipped = try #require(record["skipped"] as? Int)
        let longest = try #require(record["longest_skip"] as? Int)
        #expect(longest <= skipped && (longest > 0) == (skipped > 0), "\(record)")
      }
      #expect(!FileManager.default.fileExists(atPath: folder))
    }

    /// Captured at a third of the rate at which it changes.
    @Test(.enabled(if: SwaySession.isAvailable, "needs sway: scripts/setup --test"))
    func readerOfNumbersCountsWhatACaptureSkips() throws {
      try withWatchdog {
        let session = try SwaySession("1280x720")
        let root = try TemporaryRoot()
        try output(
          of: "framebus", ["group", "create", "group.local.framebus", "--root", root.path])
        let content = try RunningProgram("BareWayland", [session.socket, "show"])
        let capture = try RunningProgram(
          "framebus-capture", ["wayland", "--fps", "20", "--root", root.path],
          environment: session.environment)
        let reader = try RunningProgram("BusViewer", [root.path, "screen", "numbers"])
        var found: Numbers?
        try waitUntil("numbers are read\n\(reader.transcript)\n\(capture.transcript)") {
          let line = reader.output.text.split(separator: "\n").last { $0.hasPrefix("{") }
          found = line.flatMap { try? JSONDecoder().decode(Numbers.self, from: Data($0.utf8)) }
          return (found?.shown ?? 0) > 60
        }
        let numbers = try #require(found)
        #expect(numbers.torn == 0 && numbers.longest >= 1)
        #expect(numbers.skipped > numbers.shown / 3, "\(numbers)")
        for program in [reader, capture, content] { try program.end(with: SIGTERM) }
      }
    }

    private struct Numbers: Decodable {
      let shown: Int
      let skipped: Int
      let longest: Int
      let torn: Int
    }

    @Test func viewersWithAndWithoutDemandAreCompared() throws {
      let program = try bench(["demand", "--seconds", "1", "--rounds", "1", "--json"])
      let folder = try folder(of: program)
      let result = try program.finish()
      #expect(result.status == .exited(0), "\(program.transcript)")
      let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
      let records = try #require(object as? [[String: Any]])
      #expect(
        records.compactMap { $0["subject"] as? String }
          == ["everything", "phone", "phone, 10 fps", "small screen"])
      let scenarios = records.compactMap { $0["scenario"] as? String }
      let (large, small) = ("3840x2160 to ", "1280x720 to ")
      #expect(
        scenarios == [
          large + "3840x2160 at 30 fps", large + "1280x720 at 30 fps", large + "1280x720 at 10 fps",
          small + "1280x720 at 30 fps",
        ])
      #expect(!FileManager.default.fileExists(atPath: folder))
    }

    @Test(
      arguments: ["capture", "windows", "demand"] + (SwaySession.isAvailable ? ["pacing"] : []))
    func interruptStopsAllStartedProcesses(suite: String) throws {
      let program = try bench([suite, "--seconds", "600"])
      let folder = try folder(of: program)
      try program.waitForErrors("round 1 of")
      let started = try children(of: program.processID)
      #expect(!started.isEmpty)
      #expect(try program.end(with: SIGINT).status == .exited(130), "\(program.transcript)")
      for processID in started {
        #expect(kill(processID, 0) == -1 && errno == ESRCH, "process \(processID) is left")
      }
      #expect(!FileManager.default.fileExists(atPath: folder))
    }

    @Test func missingServerErrorNamesItsPackage() throws {
      let root = try TemporaryRoot()
      let result = try run("framebus", ["bench", "capture"], environment: ["PATH": root.path])
      #expect(result.status == .exited(1))
      #expect(result.errors.contains("apt-get install xvfb"), "\(result.errors)")
      let other = try run("framebus", ["bench", "pacing"], environment: ["PATH": root.path])
      #expect(other.errors.contains("apt-get install sway"), "\(other.errors)")
    }

    @Test(arguments: [["coffee"], ["--seconds", "0"], ["--rounds", "0"]])
    func invalidOptionsAreUsageErrors(_ arguments: [String]) throws {
      #expect(try bench(arguments).finish().status == .exited(2))
    }

    private func children(of processID: Int32) throws -> [Int32] {
      try output(of: "ps", ["-o", "pid=", "--ppid", "\(processID)"])
        .split(whereSeparator: \.isWhitespace).compactMap { Int32($0) }
    }
  }
#endif
