import AppGroup
import CommandLineSupport
import Platform

/// The cost of transferring a moving screen to another process that discards it: from the X server,
/// and where sway and PipeWire are installed, from a Wayland compositor and a node of PipeWire's.
struct CaptureSuite: BenchSuite {
  let name: String
  private let windowCounts: [Int]

  /// The cost of the bus alone.
  static let bus = CaptureSuite(name: "capture", windowCounts: [])
  /// That of protection, with windows of another client to follow.
  static let windows = CaptureSuite(name: "windows", windowCounts: [0, 20, 200])

  private static let width = 1920
  private static let height = 1080
  private static let framesPerSecond = 60
  private static let defaultSeconds = 5

  func run(_ run: BenchRun) throws -> BenchReport {
    var report = try runOnX11(run)
    guard windowCounts.isEmpty else { return report }
    let others: [(rows: String, suite: any BenchSuite)] = [
      ("Wayland", WaylandSuite.bus), ("PipeWire", PipeWireSuite()),
    ]
    for (rows, suite) in others {
      do {
        let other = try suite.run(run)
        report = BenchReport(
          records: report.records + other.records, lines: report.lines + [""] + other.lines)
      } catch let error as StartedProgramError {
        guard case .missing = error else { throw error }
        run.terminal.report("skipped the \(rows) rows: \(error)")
      }
    }
    return report
  }

  private func runOnX11(_ run: BenchRun) throws -> BenchReport {
    let folder = try TemporaryFolder(prefix: "framebus-bench-capture-")
    defer { try? folder.remove() }
    _ = try AppGroup.create(.local, root: folder.path)
    let screen = try VirtualDisplay(width: Self.width, height: Self.height, stop: run.stop)
    defer { screen.server.stop() }
    let scene = CaptureScene(
      display: screen.name, width: Self.width, height: Self.height,
      framesPerSecond: Self.framesPerSecond, folder: folder.path,
      groupID: GroupID.local.description)
    let content = try scene.showContent()
    defer { content.stop() }

    var subjects = [try scene.framebus(), try scene.limit()]
    for count in windowCounts {
      if count > 0 { subjects.append(try scene.framebus(windows: count)) }
      subjects.append(try scene.protecting(windows: count))
    }
    if run.hasPeers, windowCounts.isEmpty {
      subjects += CaptureSubject.installed(scene.peers, run.terminal)
    }
    let turns = subjects.map {
      CaptureTurn(
        subject: $0, scene: scene, folder: folder.path,
        serverID: screen.server.process.processID, run: run,
        seconds: run.wholeSeconds(or: Self.defaultSeconds))
    }
    let findings = try CaptureTurn.findings(of: turns, run)
    if let error = content.errorIfEnded() { throw error }
    return report(zip(subjects, findings).filter { !$0.1.isEmpty }, run)
  }

  private var scenario: String { "\(Self.width)x\(Self.height) at \(Self.framesPerSecond) fps" }

  private func report(
    _ results: [(subject: CaptureSubject, findings: [CaptureFinding])], _ run: BenchRun
  ) -> BenchReport {
    var records: [BenchRecord] = []
    var table = TextTable([
      "subject", "windows", "CPU µs a frame", "ratio to limit", "publisher", "X server", "fps",
      "latency ms",
    ])
    let limits = results[1].findings
    for (subject, findings) in results {
      let scenario = scenario + (windowCounts.isEmpty ? "" : ", \(subject.windowCount) windows")
      let samples = findings.reduce(0) { $0 + $1.sample.frames }
      func record(_ part: String, _ spread: Spread) -> BenchRecord {
        var record = BenchRecord(
          suite: name, scenario: scenario + part, subject: subject.name, samples: samples)
        record.cpu_ns_per_frame = UInt64(spread.median.rounded())
        return record
      }
      let rate = Spread(findings.map(\.framesPerSecond))
      let all = Spread(findings.map(\.processorNsPerFrame))
      let publisher = Spread(findings.map(\.publisherNsPerFrame))
      let server = Spread(findings.map(\.serverNsPerFrame))
      let latencies = findings.compactMap(\.latency)
      let middle = latencies.map { Double($0.latency_p50_ns) }
      let late = latencies.map { Double($0.latency_p99_ns) }

      var whole = record("", all)
      whole.set(rounds: findings.map(\.processorNsPerFrame), unit: "ns")
      whole.per_second = (rate.median * 1000).rounded() / 1000
      whole.p50_ns = middle.isEmpty ? nil : UInt64(Spread(middle).median)
      whole.p99_ns = late.isEmpty ? nil : UInt64(Spread(late).median)
      records.append(whole)
      if subject.programs.count > 1 { records.append(record(", publisher", publisher)) }
      records.append(record(", X server", server))

      // Within a round, so that load on the machine affects both.
      let ratios = Spread(
        zip(findings, limits).map { $0.processorNsPerFrame / $1.processorNsPerFrame })
      table.add([
        subject.name, "\(subject.windowCount)", all.text(in: 1000), ratios.text(places: 2),
        subject.programs.count > 1 ? publisher.text(in: 1000) : "",
        server.text(in: 1000, places: 0), rate.median.text(places: 1),
        middle.isEmpty
          ? ""
          : "\((Spread(middle).median / 1e6).text(places: 2)) / "
            + (Spread(late).median / 1e6).text(places: 2),
      ])
    }
    let heading =
      "\(name): \(scenario) to nowhere, \(run.rounds) rounds of "
      + "\(run.wholeSeconds(or: Self.defaultSeconds)) s each, median (min–max)"
    return BenchReport(records: records, lines: [heading, ""] + table.lines)
  }
}
