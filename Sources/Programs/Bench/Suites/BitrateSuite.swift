import AppGroup
import CommandLineSupport
import Platform
import SharedDefaults

/// The time from the write of the setting `uploadBitrate` until a running upload follows it: until
/// the first picture that has another size than those before has arrived at the receiver, which has
/// no part of FrameBus.
struct BitrateSuite: BenchSuite {
  let name = "bitrate"

  private static let defaultSeconds = 10

  func run(_ run: BenchRun) throws -> BenchReport {
    let folder = try TemporaryFolder(prefix: "framebus-bench-bitrate-")
    defer { try? folder.remove() }
    let settings = try SharedDefaults(in: AppGroup.create(.local, root: folder.path))
    defer { run.terminal.endProgress() }
    var delaysNs: [BitrateChange: [[UInt64]]] = [:]
    for round in 0..<run.rounds {
      run.terminal.progress("round \(round + 1) of \(run.rounds)")
      let turn = BitrateTurn(
        folder: folder.path, settings: settings, run: run,
        seconds: run.wholeSeconds(or: Self.defaultSeconds))
      for (change, found) in try turn.measure() { delaysNs[change, default: []].append(found) }
    }
    return report(delaysNs, run)
  }

  private func report(_ delaysNs: [BitrateChange: [[UInt64]]], _ run: BenchRun) -> BenchReport {
    var table = TextTable(["change", "median ms", "p99 ms", "changes"])
    var records: [BenchRecord] = []
    for change in BitrateChange.allCases {
      let rounds = delaysNs[change] ?? []
      let sorted = rounds.joined().sorted()
      guard !sorted.isEmpty else { continue }
      var record = BenchRecord(
        suite: name, scenario: change.text, subject: "framebus", samples: sorted.count)
      record.p50_ns = sorted[sorted.count / 2]
      let p99 = sorted[min(sorted.count - 1, sorted.count * 99 / 100)]
      record.p99_ns = p99
      record.set(rounds: rounds.map { Spread($0.map { Double($0) }).median }, unit: "ns")
      records.append(record)
      let medians = Spread(rounds.map { Spread($0.map { Double($0) }).median })
      table.add([
        change.text, medians.text(in: 1e6), (Double(p99) / 1e6).text(places: 1),
        "\(sorted.count)",
      ])
    }
    let heading =
      "\(name): by WHIP at \(BitrateTurn.framesPerSecond) fps, \(run.rounds) rounds of "
      + "\(run.wholeSeconds(or: Self.defaultSeconds)) s each, median of rounds (min–max)"
    return BenchReport(records: records, lines: [heading, ""] + table.lines)
  }
}
