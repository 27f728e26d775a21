import CommandLineSupport
import Platform

/// The cost of notifications: FrameBus compared with a bare datagram to each observer (the
/// baseline), a bare futex, and peers. Uses the ring suite's measurements: a post counts as a
/// frame.
struct NotifySuite: BenchSuite {
  let name = "notify"

  func run(_ run: BenchRun) throws -> BenchReport {
    let subjects = try RingSubjects(
      run, own: [try .notify(), try .datagram(), try .futex()],
      peers: [{ try .dbus() }, { try .redis() }])
    defer { subjects.stopDaemons() }
    let duration: Duration = .seconds(run.seconds ?? 1)
    let rows = try run.rows(of: RingScenario.notifications, subjects.all) { scenario, subject in
      try RingTurn(subject: subject, scenario: scenario, duration: duration, stop: run.stop)
        .measure()
    }
    let heading = "\(name): \(run.rounds) rounds of \(duration), median (min–max)"
    return RingReport(
      suite: name, heading: heading, rows: rows, baselines: ["limit", "dbus"], noun: "post"
    ).report
  }
}

extension RingScenario {
  static let notifications: [RingScenario] = [
    cost("post, no observer", subscribers: 0, traits: .idles),
    cost("check", subscribers: 0, traits: [.idles, .checks]),
    RingScenario(
      name: "post to observer at 1 kHz", measure: .latency, bytes: smallBytes,
      framesPerSecond: 1000),
    RingScenario(
      name: "post to the last of 64 observers at 50 Hz", measure: .last, bytes: smallBytes,
      framesPerSecond: 50, subscribers: 64),
    cost(
      "post, 256 observers, at 20 Hz", framesPerSecond: 20, subscribers: 256, traits: .times),
    RingScenario(name: "posts to one observer", measure: .posts, bytes: smallBytes),
    RingScenario(
      name: "posts to one busy observer", measure: .posts, bytes: smallBytes, traits: .works),
  ]

  private static func cost(
    _ name: String, framesPerSecond: Int = 0, subscribers: Int, traits: Traits
  ) -> RingScenario {
    RingScenario(
      name: name, measure: .cost, bytes: smallBytes, framesPerSecond: framesPerSecond,
      subscribers: subscribers, traits: traits)
  }
}

extension RingSubject {
  fileprivate static func notify() throws(MissingSubject) -> RingSubject {
    RingSubject(name: "framebus", path: try own("BusNotify", for: "framebus"), canCheck: true)
  }

  fileprivate static func datagram() throws(MissingSubject) -> RingSubject {
    RingSubject(name: "limit", path: try own("BareDatagram", for: "limit"))
  }

  fileprivate static func futex() throws(MissingSubject) -> RingSubject {
    RingSubject(name: "futex", path: try own("BareFutex", for: "futex"))
  }

  fileprivate static func dbus() throws(MissingSubject) -> RingSubject {
    try peer("dbus", "DBusNotify", server: "dbus-daemon", package: "dbus")
  }

  fileprivate static func redis() throws(MissingSubject) -> RingSubject {
    try peer("redis", "RedisNotify", server: "redis-server", package: "redis-server")
  }

  /// A peer whose posting program starts its own server.
  private static func peer(
    _ name: String, _ program: String, server: String, package: String
  ) throws(MissingSubject) -> RingSubject {
    guard programInPath(named: server) != nil else {
      throw MissingSubject(
        subject: name, program: server, remedy: "install it: apt-get install \(package)")
    }
    return RingSubject(name: name, path: try self.program(program, for: name), queues: true)
  }
}
