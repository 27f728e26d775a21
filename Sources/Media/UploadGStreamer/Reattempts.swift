#if Media
  import Platform
  import WHIP

  /// When to try again to reach a peer that was lost: at growing distances, for a while. One that
  /// was never reached is the user's to mend.
  struct Reattempts {
    private let limit: Duration
    private var backOff = BackOff()
    /// The moment of the next attempt.
    private(set) var next = Deadline.now
    /// Of a peer that was reached and is lost: when to stop trying.
    private var giveUp: Deadline?

    /// - Parameter limit: how long to try again once a connection that worked is lost.
    init(for limit: Duration) { self.limit = limit }

    /// An attempt has ended by a failure.
    /// - Parameter hadWorked: whether it had reached the peer.
    /// - Returns: the time until the next one; nil if there is none.
    mutating func fail(hadWorked: Bool) -> Duration? {
      if hadWorked {
        backOff.reset()
        giveUp = .after(limit)
      }
      guard let giveUp, !giveUp.isPast else { return nil }
      let pause = backOff.next()
      next = .after(pause)
      return pause
    }

    /// Waits for the next attempt.
    /// - Returns: whether its time has come.
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
