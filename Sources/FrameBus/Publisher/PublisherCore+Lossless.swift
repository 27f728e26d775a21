import Platform
import Synchronization

/// The deadline of a lossless subscriber that blocks the publisher.
private struct StallDeadline {
  let tenancy: UInt64
  let leastLag: UInt64
  let end: Deadline
}

/// What a wait for a loan needs to know of the publishing thread's state.
struct RequestedLoan {
  /// The sequence number of the next frame.
  var next: UInt64 = 1
  /// That of the loan's frame.
  var sequence: UInt64 = 1
}

extension PublisherCore {
  /// Waits until a loan's frame overwrites no frame that a lossless subscriber still needs. Any
  /// thread, and several at once.
  func waitForLossless(
    _ loan: RequestedLoan, until deadline: Deadline, stop: StopSignal?, server: StreamServer
  ) throws(LoanError) {
    guard var watched = firstBlocker(of: loan)?.seat else { return }
    // SYNC progress: Dekker. Our store of `publisherWaiting`, fence, our load of the position; the
    // subscriber's store of its position, fence, its load of `publisherWaiting`
    // (Attachment.advance).
    showWaiter()
    defer { endWaiter() }
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    let budgetNs = options.losslessStallBudget?.clampedNanoseconds
    var deadlines: [Int: StallDeadline] = [:]
    while true {
      let change = changes.load()
      // SYNC progress: acquire; the word is read before the position it announces.
      let progress = seats.page(watched).progress.loadAcquiring()
      guard let (seat, lag) = firstBlocker(of: loan) else { return }
      if seat != watched {
        watched = seat
        continue
      }
      if stop?.isRaised == true { throw .stopped }
      if deadline.isPast { throw .timedOut }
      // Progress means a new minimum lag during this wait, so that a position that moves back and
      // forth, or two subscribers that block in turns, gain no time.
      let tenancy = seats.tenancy(seat)
      if deadlines[seat]?.tenancy != tenancy || lag < deadlines[seat]?.leastLag ?? .max {
        deadlines[seat] = StallDeadline(
          tenancy: tenancy, leastLag: lag, end: .afterNs(seats.stallLimitNs(seat)))
      }
      var end = deadlines[seat]?.end ?? .now
      if let budgetNs {
        let leftNs = stalls.withLock { $0.leftNs(of: budgetNs, at: seat, tenancy: tenancy) }
        end = min(end, .afterNs(leftNs))
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
      let spentNs = monotonicNowNs() - startNs
      stalls.withLock { $0.spend(spentNs, at: seat, tenancy: tenancy) }
    }
  }

  private func showWaiter() {
    waiterCount.withLock { count in
      count += 1
      // Relaxed: the caller's fence orders it.
      board.publisherWaiting.storeRelaxed(1)
      crashPoint(.waitShown)
    }
  }

  private func endWaiter() {
    waiterCount.withLock { count in
      count -= 1
      guard count == 0 else { return }
      // Relaxed: a late wake-up without a sleeper is harmless.
      board.publisherWaiting.storeRelaxed(0)
      crashPoint(.waitEnded)
    }
  }
}

/// The wait for lossless subscribers of `Publisher.loan(waitingUntil:)`, on a thread that is not
/// the publisher's.
package struct LoanWait: Sendable {
  private let core: Reference<PublisherCore>
  private let server: Reference<StreamServer>

  /// Weak, so that a waiting thread does not keep a stream from ending.
  private final class Reference<Object: AnyObject & Sendable>: @unchecked Sendable {
    // because it is written once
    weak var object: Object?
    init(_ object: Object) { self.object = object }
  }

  init(_ core: PublisherCore, _ server: StreamServer) {
    self.core = Reference(core)
    self.server = Reference(server)
  }

  /// Waits until the loan that was requested last may succeed, or the signal is raised. Meanwhile
  /// a subscriber loses lossless delivery as it does in `Publisher.loan(waitingUntil:)`.
  package func wait(stop: StopSignal) {
    guard let core = core.object, let server = server.object else { return }
    let loan = core.requestedLoan.withLock { $0 }
    try? core.waitForLossless(loan, until: .never, stop: stop, server: server)
  }
}
