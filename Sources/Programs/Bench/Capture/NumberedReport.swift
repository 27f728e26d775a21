import CommandLineSupport

/// The rows of subjects that capture pictures with numbers: what a frame costs, its age, and which
/// pictures were skipped. The second subject is the limit.
struct NumberedReport {
  let suite: String
  let scenario: String
  /// The process that serves the pictures.
  let server: String
  /// How long each turn takes.
  let seconds: Int

  func report(
    _ results: [(subject: CaptureSubject, findings: [CaptureFinding])], _ run: BenchRun
  ) -> BenchReport {
    var records: [BenchRecord] = []
    var table = TextTable([
      "subject", "CPU µs a frame", "ratio to limit", "publisher", server, "fps", "age ms p50 / p99",
      "skipped", "longest",
    ])
    let limits = results[1].findings
    for (subject, findings) in results {
      let all = Spread(findings.map(\.processorNsPerFrame))
      let rate = Spread(findings.map(\.framesPerSecond))
      let pacings = findings.compactMap(\.pacing)
      var record = BenchRecord(
        suite: suite, scenario: scenario, subject: subject.name,
        samples: findings.reduce(0) { $0 + $1.sample.frames })
      record.cpu_ns_per_frame = UInt64(all.median.rounded())
      record.per_second = (rate.median * 1000).rounded() / 1000
      var (age, skipped, longest) = ("", "", "")
      if !pacings.isEmpty {
        let middle = Spread(pacings.map { Double($0.latency_p50_ns) })
        let late = Spread(pacings.map { Double($0.latency_p99_ns) })
        record.p50_ns = UInt64(middle.median)
        record.p99_ns = UInt64(late.median)
        record.skipped = pacings.reduce(0) { $0 + $1.skipped }
        record.longest_skip = pacings.map(\.longest).max()
        age = "\((middle.median / 1e6).text(places: 2)) / \((late.median / 1e6).text(places: 2))"
        skipped = "\(record.skipped ?? 0) of \(pacings.reduce(0) { $0 + $1.shown })"
        longest = "\(record.longest_skip ?? 0)"
        // A reader that loses pictures, or sees half of one, says nothing of the capture.
        let (torn, dropped) = (pacings.map(\.torn).max() ?? 0, pacings.map(\.dropped).max() ?? 0)
        if torn + dropped > 0 { skipped += " (\(torn) torn, \(dropped) dropped)" }
      }
      records.append(record)
      // Within a round, so that load on the machine affects both.
      let ratios = Spread(
        zip(findings, limits).map { $0.processorNsPerFrame / $1.processorNsPerFrame })
      table.add([
        subject.name, all.text(in: 1000), ratios.text(places: 2),
        subject.programs.count > 1
          ? Spread(findings.map(\.publisherNsPerFrame)).text(in: 1000) : "",
        Spread(findings.map(\.serverNsPerFrame)).text(in: 1000, places: 0),
        rate.median.text(places: 1), age, skipped, longest,
      ])
    }
    let heading =
      "\(suite): \(scenario) to nowhere, \(run.rounds) rounds of \(seconds) s each, "
      + "median (min–max)"
    return BenchReport(records: records, lines: [heading, ""] + table.lines)
  }
}

/// What a reader of the drawn numbers reports.
private struct Pacing: Decodable {
  let latency_p50_ns: UInt64
  let latency_p99_ns: UInt64
  /// Pictures from the first to the last that was captured.
  let shown: Int
  let skipped: Int
  /// The most that were skipped in a row.
  let longest: Int
  let torn: Int
  let dropped: Int
}

extension CaptureFinding {
  /// Nil for a subject that reads no numbers.
  fileprivate var pacing: Pacing? {
    try? lastObject(Pacing.self, in: output, of: "the reader of numbers")
  }
}
