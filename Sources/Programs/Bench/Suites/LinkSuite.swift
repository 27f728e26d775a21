import Platform

/// The cost of groups on several machines.
struct LinkSuite: BenchSuite {
  let name = "link"

  func run(_ run: BenchRun) throws -> BenchReport { try LinkNotificationRows.report(run) }
}
