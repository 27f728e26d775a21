import CommandLineSupport
import Platform

/// Notifications between machines, each with a group and a bridge of its own, compared with the
/// same messages over bare NATS (the baseline). Both have a server of their own in each turn.
enum LinkNotificationRows {
  static func report(_ run: BenchRun) throws -> BenchReport {
    let subjects = try RingSubjects(run, own: [try .link(), try .nats()], peers: [])
    let duration: Duration = .seconds(run.seconds ?? 4)
    let rows = try run.rows(of: scenarios, subjects.all) { scenario, subject in
      try RingTurn(subject: subject, scenario: scenario, duration: duration, stop: run.stop)
        .measure()
    }
    let heading = "link, notifications: \(run.rounds) rounds of \(duration), median (min–max)"
    return RingReport(
      suite: "link", heading: heading, rows: rows, baselines: ["limit"], noun: "post"
    ).report
  }

  private static let scenarios = [
    RingScenario(
      name: "post to one other machine at 100 Hz", measure: .latency,
      bytes: RingScenario.smallBytes, framesPerSecond: 100),
    RingScenario(
      name: "post to the last of 64 other machines at 10 Hz", measure: .last,
      bytes: RingScenario.smallBytes, framesPerSecond: 10, subscribers: 64),
  ]
}

extension RingSubject {
  fileprivate static func link() throws(MissingSubject) -> RingSubject {
    RingSubject(name: "framebus", path: try own("BusLink", for: "framebus"))
  }

  fileprivate static func nats() throws(MissingSubject) -> RingSubject {
    guard programInPath(named: "nats-server") != nil else {
      throw MissingSubject(
        subject: "limit", program: "nats-server",
        remedy: "install it: apt-get install nats-server")
    }
    return RingSubject(name: "limit", path: try own("BareNATS", for: "limit"))
  }
}
