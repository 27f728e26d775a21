import AppGroup
import Platform

/// Keeps one role's process alive: notices its end, and starts it again as the policy says.
struct RoleKeeper {
  let role: Role
  private let policy: RestartPolicy
  private(set) var process: RoleProcess?
  private var startedAtNs: UInt64 = 0
  private var deathsInARow = 0
  /// When to start it; never while it runs, or once it was given up.
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

  /// - Returns: how the process ended, if it has since the last call.
  mutating func takeEnd() -> RoleEnd? {
    guard let end = process?.end else { return nil }
    process = nil
    return end
  }

  /// Plans the next start after a death.
  /// - Returns: in how long; nil if there is to be none.
  mutating func planRestart() -> Duration? {
    deathsInARow = livedNs >= policy.forgivenAfter.clampedNanoseconds ? 1 : deathsInARow + 1
    guard let delay = policy.delay(afterDeaths: deathsInARow) else { return nil }
    startsAt = .after(delay)
    return delay
  }

  /// Plans the next start after one that came to no process: a death without any life before it.
  /// - Returns: in how long; nil if there is to be none.
  mutating func planRestartOfFailedStart() -> Duration? {
    startedAtNs = monotonicNowNs()
    return planRestart()
  }

  /// Starts it no more.
  mutating func giveUp() { startsAt = .never }
}
