import CommandLineSupport

/// What it costs that a group is on several machines, on loopback: streams by SRT.
struct LinkSuite: BenchSuite {
  let name = "link"

  func run(_ run: BenchRun) throws -> BenchReport {
    let parts = [try LinkedStreams(suite: name).run(run)]
    return BenchReport(records: parts.flatMap(\.records), lines: parts.flatMap(\.lines))
  }
}
