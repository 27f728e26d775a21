import CommandLineSupport

/// What it costs that a group is on several machines: streams by SRT on loopback, and notifications
/// through a server of NATS.
struct LinkSuite: BenchSuite {
  let name = "link"

  func run(_ run: BenchRun) throws -> BenchReport {
    let parts = [
      try LinkedStreams(suite: name).run(run), try LinkNotificationRows.report(run),
    ]
    return BenchReport(records: parts.flatMap(\.records), lines: parts.flatMap(\.lines))
  }
}
