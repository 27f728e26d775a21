#if Media
  import Platform
  import WHIP

  /// The times of attempts to reconnect to a lost peer: with backoff, up to a deadline. A peer that
  /// was never reached may be given up earlier, because a user can correct the cause at once.
  struct RetrySchedule {
    private let limit: Duration
    private let firstLimit: Duration
    private let provenTime: Duration
    private var backOff = BackOff()
    /// The time of the next attempt.
    private(set) var next = Deadline.now
    /// When to stop reconnecting; nil until the peer was reached.
    private var retryDeadline: Deadline?
    /// Whether any attempt had reached the peer.
    private var hasWorked = false

    /// - Parameters:
    ///   - limit: how long to try to reconnect after a working connection is lost.
    ///   - firstLimit: how long to try to reach the peer for the first time.
    ///   - provenTime: how long after the begin of an attempt its connection must still have worked
    ///     to count as one that works: a server may accept every connection and close it.
    init(
      for limit: Duration, first firstLimit: Duration, provenTime: Duration = .seconds(10)
    ) {
      self.limit = limit
      self.firstLimit = firstLimit
      self.provenTime = provenTime
    }

    /// Counts a failed attempt.
    /// - Parameters:
    ///   - hadWorked: whether the attempt had reached the peer.
    ///   - wait: the least time until the next attempt, which the peer asks for.
    ///   - nowNs: the time of the failure.
    /// - Returns: the time until the next attempt; nil if that is after the deadline.
    mutating func fail(
      hadWorked: Bool, asking wait: Duration? = nil, nowNs: UInt64 = monotonicNowNs()
    ) -> Duration? {
      func after(_ time: Duration) -> Deadline {
        let sum = nowNs.addingReportingOverflow(time.clampedNanoseconds)
        return sum.overflow ? .never : Deadline(monotonicNs: sum.partialValue)
      }
      let isProven = next.monotonicNs &+ provenTime.clampedNanoseconds <= nowNs
      if hadWorked, isProven || !hasWorked {
        hasWorked = true
        retryDeadline = after(limit)
        if isProven { backOff.reset() }
      } else if retryDeadline == nil {
        retryDeadline = after(firstLimit)
      }
      let pause = max(backOff.next(), wait ?? .zero)
      guard let retryDeadline, nowNs < retryDeadline.monotonicNs,
        wait == nil || after(pause) < retryDeadline
      else { return nil }
      next = after(pause)
      return pause
    }

    /// Waits for the next attempt.
    /// - Returns: whether it is due.
    func wait(until deadline: Deadline, stop: StopSignal?) -> Bool {
      let end = min(deadline, next)
      if let stop {
        _ = try? waitUntilReadable([stop.descriptorNumber], until: end)
      } else {
        sleep(until: end)
      }
      return next.isPast && stop?.isRaised != true
    }
  }
#endif
