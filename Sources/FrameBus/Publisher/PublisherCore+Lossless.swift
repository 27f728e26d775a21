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
    guard var watched = firstBlocker()?.place else { return }
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
      let progress = places.page(watched).progress.loadAcquiring()
      guard let (place, lag) = firstBlocker() else { return }
      if place != watched {
        watched = place
        continue
      }
      if stop?.isRaised == true { throw .stopped }
      if deadline.isPast { throw .timedOut }
      // Progress means a new minimum lag during this wait, so that a position that moves back and
      // forth, or two subscribers that block in turns, gain no time.
      let tenancy = places.tenancy(place)
      if stalls[place]?.tenancy != tenancy || lag < stalls[place]?.leastLag ?? .max {
        stalls[place] = StallDeadline(
          tenancy: tenancy, leastLag: lag, end: .afterNs(places.stallLimitNs(place)))
      }
      var end = stalls[place]?.end ?? .now
      if let budgetNs {
        end = min(end, .afterNs(ring.stalls.leftNs(of: budgetNs, at: place, tenancy: tenancy)))
      }
      if end.isPast {
        server.endLossless(place, of: tenancy)
        continue
      }
      let startNs = monotonicNowNs()
      // SAFETY: the page row is mapped as long as self.
      unsafe sleepOnFutexes(
        shared: places.page(place).progress.futex, expecting: progress,
        privates: (changes, change), stop?.word, until: min(deadline, end))
      ring.stalls.spend(monotonicNowNs() - startNs, at: place, tenancy: tenancy)
    }
  }
}
