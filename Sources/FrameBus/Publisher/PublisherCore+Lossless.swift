import Platform
import Synchronization

/// The deadline of a lossless subscriber that blocks the publisher.
private struct StallDeadline {
  let tenancy: UInt64
  let leastLag: UInt64
  let end: Deadline
}

extension PublisherCore {
  /// Waits until the next frame overwrites no frame that a lossless subscriber still needs.
  func waitForLossless(
    until deadline: Deadline, stop: StopSignal?, server: StreamServer
  ) throws(LoanError) {
    guard var watched = firstBlocker()?.seat else { return }
    // SYNC progress: Dekker. Our store of `publisherWaiting`, fence, our load of the position; the
    // subscriber's store of its position, fence, its load of `publisherWaiting`
    // (Attachment.advance). Relaxed: the fence orders it.
    board.publisherWaiting.storeRelaxed(1)
    crashPoint(.waitShown)
    // Relaxed: a late wake-up without a sleeper is harmless.
    defer {
      board.publisherWaiting.storeRelaxed(0)
      crashPoint(.waitEnded)
    }
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    let budgetNs = options.losslessStallBudget?.clampedNanoseconds
    var stalls: [Int: StallDeadline] = [:]
    while true {
      let change = changes.load()
      // SYNC progress: acquire; the word is read before the position it announces.
      let progress = seats.page(watched).progress.loadAcquiring()
      guard let (seat, lag) = firstBlocker() else { return }
      if seat != watched {
        watched = seat
        continue
      }
      if stop?.isRaised == true { throw .stopped }
      if deadline.isPast { throw .timedOut }
      // Progress means a new minimum lag during this wait, so that a position that moves back and
      // forth, or two subscribers that block in turns, gain no time.
      let tenancy = seats.tenancy(seat)
      if stalls[seat]?.tenancy != tenancy || lag < stalls[seat]?.leastLag ?? .max {
        stalls[seat] = StallDeadline(
          tenancy: tenancy, leastLag: lag, end: .afterNs(seats.stallLimitNs(seat)))
      }
      var end = stalls[seat]?.end ?? .now
      if let budgetNs {
        end = min(end, .afterNs(ring.stalls.leftNs(of: budgetNs, at: seat, tenancy: tenancy)))
      }
      if end.isPast {
        server.endLossless(seat, of: tenancy)
        continue
      }
      let startNs = monotonicNowNs()
      // SAFETY: the page row is mapped as long as self.
      unsafe sleepOnFutexes(
        shared: seats.page(seat).progress.futex, expecting: progress,
        privates: (changes, change), stop?.word, until: min(deadline, end))
      ring.stalls.spend(monotonicNowNs() - startNs, at: seat, tenancy: tenancy)
    }
  }
}
