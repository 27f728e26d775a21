import AppGroup
import Platform
import Synchronization

/// The one process side that fills and publishes the frames of a stream.
///
/// A publisher belongs to one thread or isolation at a time. It is unique in its group: a second
/// one for the same stream is refused. When it goes, also by SIGKILL, subscribers keep what they
/// hold and attach to its successor by themselves.
public struct Publisher: ~Copyable {
  private let core: PublisherCore
  private let server: StreamServer

  /// Creates the stream's memory and opens it to subscribers.
  /// - Parameters:
  ///   - stream: unique among the group's living publishers.
  ///   - format: of the first frames; sizes the slots unless the options do.
  /// - Throws: ``PublisherError/alreadyPublished(_:)`` while another process publishes the stream.
  public init(
    _ stream: StreamName, in group: AppGroup, format: FrameFormat,
    options: PublisherOptions = PublisherOptions()
  ) throws(PublisherError) {
    try options.check()
    let core = try PublisherCore(stream: stream, format: format, options: options)
    let server = try StreamServer(core, in: group)
    core.ring.announce = { [weak server] pool, keptFrom in
      server?.announce(pool, keptFrom: keptFrom)
    }
    self.server = server
    self.core = core
    core.ring.pool.populate(slots: options.slotCount(holding: 0))
    options.streamChanged?(.up(format))
  }

  /// Changes the format of the frames that follow, without reconnecting anybody. A format whose
  /// frames do not fit the slots makes a new pool, which costs its allocation.
  public mutating func setFormat(_ format: FrameFormat) throws(PublisherError) {
    guard format != self.format else { return }
    try core.setFormat(format)
    core.options.streamChanged?(.format(format))
  }

  /// The format of the next frame.
  public var format: FrameFormat { core.ring.format }

  /// Loans the next free slot so that one frame can be written in place.
  /// - Throws: ``LoanError/backpressure(subscriber:lagFrames:)`` while a lossless subscriber lags;
  ///   without lossless subscribers a loan cannot fail.
  /// - Complexity: O(subscribers). Never blocks, makes no system call.
  public mutating func loan() throws(LoanError) -> FrameLoan { try core.loan() }

  /// Loans the next free slot, waiting for lossless subscribers as long as they get on.
  ///
  /// A subscriber that receives nothing for the `losslessStallLimit`, or for the shorter deadline
  /// it asked for, or that has cost the whole `losslessStallBudget`, loses its lossless delivery,
  /// and the publisher goes on.
  public mutating func loan(
    waitingUntil deadline: Deadline, stop: StopSignal? = nil
  ) throws(LoanError) -> FrameLoan {
    while true {
      try core.waitForLossless(until: deadline, stop: stop, server: server)
      do throws(LoanError) { return try core.loan() } catch {
        // A lossless subscriber arrived just now: it is waited for like any other.
        guard case .backpressure = error else { throw error }
      }
    }
  }

  /// How many subscribers there are now. One that has yet to map the stream's memory does not
  /// count, because it may be gone.
  public var subscriberCount: Int { core.places.seatedMask.nonzeroBitCount }

  /// How many subscribers have come since the start. A source that publishes only changes looks at
  /// it to give each newcomer a frame.
  public var joinCount: UInt64 { server.joinCount }

  /// Frames published so far.
  public var publishedCount: UInt64 { core.ring.next - 1 }

  /// Waits until somebody subscribes, at no cost.
  /// - Returns: false when the deadline passed or the signal was raised first.
  public func waitForSubscriber(until deadline: Deadline, stop: StopSignal? = nil) -> Bool {
    while true {
      let change = core.changes.load()
      if core.places.seatedMask != 0 { return true }
      if deadline.isPast || stop?.isRaised == true { return false }
      // SAFETY: watches only words of this process.
      unsafe sleepOnFutexes(
        shared: nil, expecting: 0, privates: (core.changes, change), stop?.word, until: deadline)
    }
  }

  /// Ends the stream. Subscribers read what was published and then see the reason.
  public consuming func finish(_ reason: FinishReason) { core.set(.finished(reason)) }

  /// Says that no frames come until `resume`, so that subscribers know a silence from a failure. A
  /// loan that is out may still be published.
  public mutating func pause(_ reason: PauseReason = .requested) { core.set(.paused(reason)) }

  public mutating func resume() { core.set(.live) }

  /// What the subscribers say about themselves: the highest utilization, and the highest frame rate
  /// that any of them wants. Advice from other processes, kept within bounds and not more.
  public var feedback: Feedback {
    SetBits(core.places.seatedMask).reduce(Feedback()) { highest, place in
      highest.merged(with: core.places.page(place).feedback())
    }
  }

  deinit {
    server.end()
    core.options.streamChanged?(.down)
  }
}

/// What a lossless subscriber that blocks the publisher has left of its time.
private struct Patience {
  let tenancy: UInt64
  let leastLag: UInt64
  let end: Deadline
}

extension PublisherCore {
  /// Waits until no lossless subscriber would miss a frame by the next one.
  func waitForLossless(
    until deadline: Deadline, stop: StopSignal?, server: StreamServer
  ) throws(LoanError) {
    guard var watched = firstBlocker()?.place else { return }
    // SYNC progress: Dekker. Our store of `publisherWaiting`, fence, our load of the position; the
    // subscriber's store of its position, fence, its load of `publisherWaiting`
    // (Attachment.advance). Relaxed: the fence orders it.
    board.publisherWaiting.storeRelaxed(1)
    crashPoint(.waitShown)
    // Relaxed: a late wake-up finds nobody, which is harmless.
    defer {
      board.publisherWaiting.storeRelaxed(0)
      crashPoint(.waitEnded)
    }
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    let budgetNs = options.losslessStallBudget?.clampedNanoseconds
    var patience: [Int: Patience] = [:]
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
      // Getting on is to have fewer frames left than ever during this wait: a position that goes
      // to and fro, or two subscribers that block by turns, win no time.
      let tenancy = places.tenancy(place)
      if patience[place]?.tenancy != tenancy || lag < patience[place]?.leastLag ?? .max {
        patience[place] = Patience(
          tenancy: tenancy, leastLag: lag, end: .afterNs(places.stallLimitNs(place)))
      }
      var end = patience[place]?.end ?? .now
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
