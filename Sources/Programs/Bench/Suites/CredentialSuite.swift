import CommandLineSupport
import Platform

/// The cost of opening a credential: FrameBus compared with the libsodium calls that it needs (the
/// baseline), and with libsecret and gnome-keyring. Uses the ring suite's measurements: opening one
/// credential counts as a frame.
struct CredentialSuite: BenchSuite {
  let name = "credential"

  func run(_ run: BenchRun) throws -> BenchReport {
    let subjects = try RingSubjects(
      run, own: [try .credentials(), try .sodium()], peers: [{ try .libsecret() }])
    defer { subjects.stopDaemons() }
    let duration: Duration = .seconds(run.seconds ?? 1)
    let rows = try run.rows(of: RingScenario.credentials, subjects.all) { scenario, subject in
      try RingTurn(subject: subject, scenario: scenario, duration: duration, stop: run.stop)
        .measure()
    }
    let heading = "\(name): \(run.rounds) rounds of \(duration), median (min–max)"
    return RingReport(
      suite: name, heading: heading, rows: rows, baselines: ["limit", "libsecret"], noun: "call"
    ).report
  }
}

extension RingScenario {
  static let credentials: [RingScenario] = [
    credentials("get one of 10", 10),
    credentials("get one of 10,000", 10_000),
    credentials("open the store and get one of 10", 10, [.idles, .opens]),
    credentials("open the store and get one of 10,000", 10_000, [.idles, .opens]),
    credentials("open the store and list 10,000", 10_000, [.idles, .lists]),
  ]

  private static func credentials(
    _ name: String, _ count: Int, _ traits: Traits = .idles
  ) -> RingScenario {
    RingScenario(
      name: name, measure: .cost, bytes: smallBytes, subscribers: 0, traits: traits,
      credentials: count)
  }
}

extension RingSubject {
  fileprivate static func credentials() throws(MissingSubject) -> RingSubject {
    RingSubject(name: "framebus", path: try own("BusCredential", for: "framebus"))
  }

  fileprivate static func sodium() throws(MissingSubject) -> RingSubject {
    RingSubject(name: "limit", path: try own("BareSodium", for: "limit"))
  }

  fileprivate static func libsecret() throws(MissingSubject) -> RingSubject {
    for (server, package) in [("dbus-daemon", "dbus"), ("gnome-keyring-daemon", "gnome-keyring")]
    where programInPath(named: server) == nil {
      throw MissingSubject(
        subject: "libsecret", program: server, remedy: "install it: apt-get install \(package)")
    }
    return RingSubject(
      name: "libsecret", path: try program("LibsecretGet", for: "libsecret"),
      maximumCredentials: 100)
  }
}
