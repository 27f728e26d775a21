import CommandLineSupport
import Platform

/// The cost of settings: FrameBus compared with bare writes to a watched file (the baseline), and
/// with peers. Uses the ring suite's measurements: a change counts as a frame.
struct DefaultsSuite: BenchSuite {
  let name = "defaults"

  func run(_ run: BenchRun) throws -> BenchReport {
    let subjects = try RingSubjects(
      run, own: [try .defaults(), try .watch()],
      peers: [{ try .dconf() }, { try .userDefaults() }])
    defer { subjects.stopDaemons() }
    let duration: Duration = .seconds(run.seconds ?? 1)
    let rows = try run.rows(of: RingScenario.settings, subjects.all) { scenario, subject in
      try RingTurn(subject: subject, scenario: scenario, duration: duration, stop: run.stop)
        .measure()
    }
    let heading = "\(name): \(run.rounds) rounds of \(duration), median (min–max)"
    return RingReport(
      suite: name, heading: heading, rows: rows, baselines: ["limit", "dconf"], noun: "change"
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

  /// It does not notify other processes.
  fileprivate static func userDefaults() throws(MissingSubject) -> RingSubject {
    RingSubject(
      name: "userdefaults", path: try own("UserSettings", for: "userdefaults"), notifies: false,
      canCheck: true)
  }
}
