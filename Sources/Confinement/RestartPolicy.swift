/// When a role that ended is started again: at once after a long run, later and later while it
/// fails again and again, and in the end not any more. A value, so that whoever keeps it decides
/// what time is.
package struct RestartPolicy: Hashable, Sendable {
  /// Before the first restart; each further one waits twice as long.
  package var firstDelay = Duration.milliseconds(200)
  package var longestDelay = Duration.seconds(10)
  /// A run that lasted so long makes up for all failures before it.
  package var steadyRun = Duration.seconds(30)
  /// So many failures in a row are enough.
  package var maximumFailures = 8

  package init() {}
}

/// How often a role has failed in a row, and what follows from that.
package struct RestartHistory: Hashable, Sendable {
  package enum Decision: Hashable, Sendable {
    /// It finished of itself: nothing to restart.
    case finished
    case restart(after: Duration)
    case giveUp(failures: Int)
  }

  package let policy: RestartPolicy
  package private(set) var failures = 0

  package init(_ policy: RestartPolicy = RestartPolicy()) { self.policy = policy }

  /// What to do about an end.
  /// - Parameter run: how long it had run.
  package mutating func decide(after ending: RoleEnding, run: Duration) -> Decision {
    if ending == .finished {
      failures = 0
      return .finished
    }
    failures = run >= policy.steadyRun ? 1 : failures + 1
    if failures > policy.maximumFailures { return .giveUp(failures: failures) }
    var delay = policy.firstDelay
    for _ in 1..<failures where delay < policy.longestDelay { delay *= 2 }
    return .restart(after: min(delay, policy.longestDelay))
  }
}
