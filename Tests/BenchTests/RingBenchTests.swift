import Foundation
import Platform
import TestSupport
import Testing

/// `framebus bench ring` as a user runs it. Figures are not judged: speed does not belong in tests.
@Suite(.serialized) struct RingBenchTests {
  private let keys: Set = [
    "suite", "scenario", "subject", "p50_ns", "p99_ns", "p999_ns", "per_second",
    "cpu_ns_per_frame", "samples", "rounds", "unit",
  ]

  private let brief = ["--seconds", "0.1", "--rounds", "1"]

  private let latencies =
    [
      "polling latency 64 B at 20 kHz", "polling latency 8.3 MB at 20 kHz",
      "event latency 64 B at 1 kHz", "event latency 3.1 MB at 60 Hz",
      "event latency 8.3 MB at 60 Hz",
    ] + [4, 8, 16, 32, 56].map { "\($0) event-driven subscribers, 64 B at 1 kHz" }
  private let rates = [
    "polling rate 64 B", "polling rate 64 B, lossless", "event rate 64 B",
    "3.1 MB filled and summed", "8.3 MB filled and summed",
  ]
  private let costs = [0, 1, 8].map { "publish cost, idle subscribers: \($0)" }
  private let calls = [
    "system calls, awake", "system calls, 1 asleep", "system calls, 8 asleep",
  ]

  private func records(_ arguments: [String]) throws -> [[String: Any]] {
    let program = try RunningProgram("framebus", ["bench"] + arguments + brief + ["--json"])
    let result = try program.finish()
    #expect(result.status == .exited(0), "\(program.transcript)")
    let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
    return try #require(object as? [[String: Any]])
  }

  private func scenarios(of subject: String, in records: [[String: Any]]) -> Set<String> {
    Set(
      records.filter { $0["subject"] as? String == subject }
        .compactMap { $0["scenario"] as? String })
  }

  @Test func everyRowHasFiguresOfBusAndBareRing() throws {
    let records = try records(["ring"])
    let all = Set(latencies + rates + costs)
    for subject in ["framebus", "limit"] {
      #expect(scenarios(of: subject, in: records) == all)
    }
    #expect(records.count == 2 * all.count)
    for record in records {
      #expect(Set(record.keys).subtracting(["quantiles_ns"]) == keys, "\(record)")
      #expect(record["suite"] as? String == "ring")
      #expect(try #require(record["samples"] as? Int) > 0, "\(record)")
      #expect(try #require(record["per_second"] as? Double) > 0, "\(record)")
      let scenario = try #require(record["scenario"] as? String)
      if rates.contains(scenario) {
        #expect(record["p50_ns"] is NSNull && record["p99_ns"] is NSNull, "\(record)")
      } else {
        let middle = try #require(record["p50_ns"] as? Int, "\(record)")
        let late = try #require(record["p99_ns"] as? Int, "\(record)")
        #expect(middle > 0 && late >= middle, "\(record)")
      }
      let isPolled = scenario.hasPrefix("polling")
      #expect((record["cpu_ns_per_frame"] is NSNull) == isPolled, "\(record)")
      if latencies.contains(scenario) { #expect(record["p999_ns"] is NSNull, "\(record)") }
    }
  }

  /// Each row that differs from its neighbours in one number, and a plot of each such scale.
  @Test func scalesHaveEachOfTheirRowsAndAPlot() throws {
    let root = try TemporaryRoot()
    let page = root.file("page.html")
    let records = try records(["scaling", "--html", page])
    let scales = Dictionary(grouping: records) {
      ($0["scale"] as? [String: Any])?["name"] as? String ?? ""
    }
    #expect(
      scales.mapValues(\.count) == [
        "event latency by subscribers of one stream": 14,
        "event latency by streams with a subscriber each": 14,
        "frames filled and summed by bytes": 12, "event rate by depth of the ring": 12,
      ])
    for record in records { #expect(record["samples"] as? Int ?? 0 > 0, "\(record)") }
    let text = try String(contentsOfFile: page, encoding: .utf8)
    for name in scales.keys { #expect(text.contains("<title>\(name)</title>")) }
  }

  /// The only exact figures of the suite: while no process sleeps, transferring a frame makes no
  /// system call.
  @Test func systemCallsAreCountedForBusAndBareRing() throws {
    // On a busy machine nobody may find the time to sleep.
    let isCounted = try (0..<5).contains { _ in
      let records = try records(["ring-calls"])
      for subject in ["framebus", "limit"] {
        #expect(scenarios(of: subject, in: records) == Set(calls))
      }
      return try records.allSatisfy { record in
        let own = Set(record.keys).subtracting(["quantiles_ns"])
        #expect(own == keys.union(["syscalls_per_frame"]), "\(record)")
        let count = try #require(record["syscalls_per_frame"] as? Double, "\(record)")
        return record["scenario"] as? String == "system calls, awake" ? count < 1 : count > 0.5
      }
    }
    #expect(isCounted)
  }

  @Test func missingPeerIsReported() throws {
    let root = try TemporaryRoot()
    let result = try run(
      "framebus", ["bench", "ring", "--peers"] + brief, environment: ["PATH": root.path])
    #expect(result.status == .exited(0), "\(result.errors)")
    let remedy =
      "skipped iceoryx: program iox-roudi not found; install it: apt-get install iceoryx"
    #expect(result.errors.contains(remedy), "\(result.errors)")
  }

  @Test func interruptStopsAllStartedProcesses() throws {
    let program = try RunningProgram("framebus", ["bench", "ring", "--seconds", "600"])
    let deadline = Deadline.after(.seconds(60))
    var started: [Int32] = []
    while started.isEmpty, !deadline.isPast {
      started = (try? children(of: program.processID)) ?? []
    }
    #expect(!started.isEmpty)
    #expect(try program.end(with: SIGINT).status == .exited(130), "\(program.transcript)")
    for processID in started {
      #expect(kill(processID, 0) == -1 && errno == ESRCH, "process \(processID) is left")
    }
  }

  private func children(of processID: Int32) throws -> [Int32] {
    // Includes children started by any of its threads.
    try output(of: "ps", ["-o", "pid=", "--ppid", "\(processID)"])
      .split(whereSeparator: \.isWhitespace).compactMap { Int32($0) }
  }
}
