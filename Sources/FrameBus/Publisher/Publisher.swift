import AppGroup
import Platform

/// Fills and publishes the frames of a stream.
///
/// A publisher belongs to one thread or isolation at a time. It is unique in its group: a second
/// publisher for the same stream is refused. When it ends, even by SIGKILL, subscribers keep their
/// leases and attach to its successor automatically.
public struct Publisher: ~Copyable {
  private let core: PublisherCore
  private let server: StreamServer

  /// Creates the stream's memory and opens it to subscribers.
  /// - Parameters:
  ///   - stream: unique among the group's running publishers.
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

  /// Changes the format of later frames. Subscribers stay attached. If the frames do not fit the
  /// slots, this allocates a new pool.
  public mutating func setFormat(_ format: FrameFormat) throws(PublisherError) {
    guard format != self.format else { return }
    try core.setFormat(format)
    core.options.streamChanged?(.format(format))
  }

  /// Replaces the memory of later frames, so that another process can map it before it is sealed
  /// (`PublisherOptions.poolWillSeal`). Subscribers stay attached. No loan may be out.
  package mutating func renewPool() throws(PublisherError) { try core.renewPool() }

  /// The format of the next frame.
  public var format: FrameFormat { core.ring.format }

  /// Loans the next free slot so that one frame can be written in place.
  /// - Throws: ``LoanError/backpressure(subscriber:lagFrames:)`` while a lossless subscriber lags;
  ///   without lossless subscribers a loan cannot fail.
  /// - Complexity: O(subscribers). Never blocks, makes no system call.
  public mutating func loan() throws(LoanError) -> FrameLoan { try core.loan() }

  /// Loans the next free slot, waiting for lossless subscribers as long as they make progress.
  ///
  /// A subscriber loses lossless delivery if it receives nothing for the `losslessStallLimit`, or
  /// for the shorter deadline that it requested, or if it has used up the `losslessStallBudget`.
  /// The publisher then continues.
  public mutating func loan(
    waitingUntil deadline: Deadline, stop: StopSignal? = nil
  ) throws(LoanError) -> FrameLoan {
    while true {
      try core.waitForLossless(core.nextLoan, until: deadline, stop: stop, server: server)
      do throws(LoanError) { return try core.loan() } catch {
        // A lossless subscriber has just arrived: wait for it like for any other.
        guard case .backpressure = error else { throw error }
      }
    }
  }

  /// The wait for a loan that `requestLoan` has announced, for another thread.
  package var loanWait: LoanWait { LoanWait(core, server) }

  /// Has the next call of `LoanWait.wait` wait for the next loan.
  package mutating func requestLoan() {
    let loan = core.nextLoan
    core.requestedLoan.withLock { $0 = loan }
  }

  /// Keeps the stream's memory mapped, also after its end.
  package var memory: AnyObject & Sendable { core }

  /// The number of subscribers. A subscriber that has not mapped the stream's memory yet does not
  /// count, because it may have died.
  public var subscriberCount: Int { core.seats.seatedMask.nonzeroBitCount }

  /// The number of subscribers that have attached since the start. A source that publishes only
  /// changes polls it to publish a frame for each new subscriber.
  public var joinCount: UInt64 { server.joinCount }

  /// What subscribers and `framebus streams` show of the stream besides its frames.
  public var annotation: StreamAnnotation { server.annotation }

  /// The number of frames published.
  public var publishedCount: UInt64 { core.ring.next - 1 }

  /// Blocks until there is a subscriber, without polling.
  /// - Returns: false when the deadline passed or the signal was raised first.
  public func waitForSubscriber(until deadline: Deadline, stop: StopSignal? = nil) -> Bool {
    while true {
      let change = core.changes.load()
      if core.seats.seatedMask != 0 { return true }
      if deadline.isPast || stop?.isRaised == true { return false }
      // SAFETY: watches only words of this process.
      unsafe sleepOnFutexes(
        shared: nil, expecting: 0, privates: (core.changes, change), stop?.word, until: deadline)
    }
  }

  /// Raises the counter after each subscriber that comes or leaves, from now on.
  package func observeSubscribers(with counter: EventCounter) {
    core.subscriberObserver.withLock { $0 = counter }
  }

  /// Ends the stream. Subscribers receive the remaining frames and then the reason.
  public consuming func finish(_ reason: FinishReason) { core.set(.finished(reason)) }

  /// Announces that no frames follow until `resume`, so that subscribers can distinguish a pause
  /// from a failure. A current loan may still be published.
  public mutating func pause(_ reason: PauseReason = .requested) {
    let isNew = core.ring.pause != reason
    core.set(.paused(reason))
    if isNew { core.options.streamChanged?(.paused(reason)) }
  }

  /// Ends a pause. Subscribers receive the frames that follow.
  public mutating func resume() {
    let wasPaused = core.ring.pause != nil
    core.set(.live)
    if wasPaused { core.options.streamChanged?(.resumed) }
  }

  /// The highest utilization and the highest requested frame rate of all subscribers. Untrusted
  /// advice from other processes; only its range is checked.
  public var feedback: Feedback {
    SetBits(core.seats.seatedMask).reduce(Feedback()) { highest, seat in
      highest.merged(with: core.seats.page(seat).feedback())
    }
  }

  /// The highest demand of all subscribers, to which a source may reduce its pictures; nil without
  /// subscribers. Untrusted advice from other processes; only its range is checked. A subscriber
  /// counts from the moment that it takes its seat until it detaches or dies.
  /// - Complexity: O(subscribers), one load each.
  public var demand: Demand? {
    var highest: Demand?
    for seat in SetBits(core.seats.seatedMask) {
      let demand = core.seats.page(seat).demanded()
      highest = highest?.merged(with: demand) ?? demand
      if highest == .everything { break }
    }
    return highest
  }

  deinit {
    server.end()
    core.options.streamChanged?(.down)
  }
}
