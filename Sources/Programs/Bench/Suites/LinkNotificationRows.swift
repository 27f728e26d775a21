import CommandLineSupport
import Platform

/// Notifications between machines, each with a group and a bridge of its own, compared with the
/// same messages over bare NATS (the baseline). All have a server of their own in each turn.
///
/// The subscribers of *limit* are connected themselves. With FrameBus a machine has one connection
/// for all of its processes, and so has *relayed*: bare NATS whose subscriber sends each message to
/// a second process, the observer, by a datagram.
enum LinkNotificationRows {
  static func report(_ run: BenchRun) throws -> BenchReport {
    let own = [try RingSubject.link(), try .nats(), try .relayedNATS()]
    let subjects = try RingSubjects(run, own: own, peers: [])
    let duration: Duration = .seconds(run.seconds ?? 4)
    let rows = try run.rows(of: scenarios, subjects.all) { scenario, subject in
      try RingTurn(subject: subject, scenario: scenario, duration: duration, stop: run.stop)
        .measure()
    }
    let heading = "link, notifications: \(run.rounds) rounds of \(duration), median (min–max)"
    return RingReport(
      suite: "link", heading: heading, rows: rows, baselines: ["limit", "relayed"], noun: "post"
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

  fileprivate static func relayedNATS() throws(MissingSubject) -> RingSubject {
    RingSubject(
      name: "relayed", path: try own("BareNATS", for: "relayed"), arguments: ["relays=1"])
  }
}
