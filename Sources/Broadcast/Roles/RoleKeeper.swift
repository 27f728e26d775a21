import AppGroup
import Platform

/// Keeps one role's process running: detects its exit and restarts it as the policy says.
struct RoleKeeper {
  let role: Role
  private let policy: RestartPolicy
  private(set) var process: RoleProcess?
  private var startedAtNs: UInt64 = 0
  private var deathsInARow = 0
  /// When to start it; `.never` while it runs, or after restarts were stopped.
  private(set) var startsAt = Deadline.now

  init(_ role: Role, _ policy: RestartPolicy, adopting process: PeerProcess?) {
    self.role = role
    self.policy = policy
    if let process { began(.adopted(process)) }
  }

  var isDue: Bool { process == nil && startsAt.isPast }
  var isRestart: Bool { deathsInARow > 0 }
  /// How long it has run, or ran.
  var livedNs: UInt64 { monotonicNowNs() - startedAtNs }

  mutating func began(_ process: RoleProcess) {
    self.process = process
    startedAtNs = monotonicNowNs()
    startsAt = .never
  }

  /// - Returns: how the process ended, if it has ended since the last call.
  mutating func takeEnd() -> RoleEnd? {
    guard let end = process?.end else { return nil }
    process = nil
    return end
  }

  /// Plans the next start after the process has died.
  /// - Returns: the delay; nil if the process is not restarted.
  mutating func planRestart() -> Duration? {
    deathsInARow = livedNs >= policy.resetAfter.clampedNanoseconds ? 1 : deathsInARow + 1
    guard let delay = policy.delay(afterDeaths: deathsInARow) else { return nil }
    startsAt = .after(delay)
    return delay
  }

  /// Plans the next start after a start that created no process. It counts as a death after 0 ns.
  /// - Returns: the delay; nil if the process is not restarted.
  mutating func planRestartOfFailedStart() -> Duration? {
    startedAtNs = monotonicNowNs()
    return planRestart()
  }

  /// Stops restarting the process.
  mutating func stopRestarting() { startsAt = .never }
}
