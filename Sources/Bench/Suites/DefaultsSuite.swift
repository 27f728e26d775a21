import CommandLineSupport
import Platform

/// What settings cost: FrameBus beside bare writes to a file that others watch (the limit), and
/// what others use. Measured by the means of the ring suite: a change is a frame.
struct DefaultsSuite: BenchSuite {
  let name = "defaults"

  func run(_ run: BenchRun) throws -> BenchReport {
    let subjects = try RingSubjects(
      run, own: [try .defaults(), try .watch()],
      peers: [{ try .dconf() }, { try .userDefaults() }])
    defer { subjects.end() }
    let duration: Duration = .seconds(run.seconds ?? 1)
    let rows = try run.rows(of: RingScenario.settings, subjects.all) { scenario, subject in
      try RingTurn(subject: subject, scenario: scenario, duration: duration, stop: run.stop)
        .measure()
    }
    let heading = "\(name): \(run.rounds) rounds of \(duration), median (least–most)"
    return RingReport(
      suite: name, heading: heading, rows: rows, yardsticks: ["limit", "dconf"], noun: "change"
    ).report
  }
}

extension RingScenario {
  static let settings: [RingScenario] = [
    RingScenario(
      name: "read", measure: .cost, bytes: smallBytes, subscribers: 0, traits: [.idles, .checks]),
    RingScenario(
      name: "write, no observer", measure: .cost, bytes: smallBytes, subscribers: 0,
      traits: .idles),
    RingScenario(
      name: "write to observer at 100 Hz", measure: .latency, bytes: smallBytes,
      framesPerSecond: 100),
  ]
}

extension RingSubject {
  fileprivate static func defaults() throws(MissingSubject) -> RingSubject {
    RingSubject(name: "framebus", path: try own("BusDefaults", for: "framebus"), canCheck: true)
  }

  fileprivate static func watch() throws(MissingSubject) -> RingSubject {
    RingSubject(name: "limit", path: try own("BareWatch", for: "limit"))
  }

  fileprivate static func dconf() throws(MissingSubject) -> RingSubject {
    for program in ["dbus-daemon", "glib-compile-schemas"]
    where programInPath(named: program) == nil {
      throw MissingSubject(
        subject: "dconf", program: program,
        remedy: "install it: apt-get install dbus libglib2.0-dev dconf-gsettings-backend")
    }
    return RingSubject(
      name: "dconf", path: try program("DConfSettings", for: "dconf"), canCheck: true)
  }

  /// It tells no other process of anything.
  fileprivate static func userDefaults() throws(MissingSubject) -> RingSubject {
    RingSubject(
      name: "userdefaults", path: try own("UserSettings", for: "userdefaults"), tells: false,
      canCheck: true)
  }
}
