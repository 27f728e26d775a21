import CFrameLayout
import Platform

extension Subscriber {
  /// A descriptor to wait on with `epoll(7)`, `poll(2)`, io_uring or GLib. It does not change
  /// during the subscriber's life. Nil unless `SubscriberOptions.wait` is `.eventDescriptor`.
  ///
  /// It is readable when there may be a frame, when the stream has ended, when the publisher has
  /// died, and when a new publisher may have started. It is level-triggered: it stays readable
  /// until `poll()` returns nil. After each wake-up call `poll()` until it returns nil, or at least
  /// once; an edge-triggered wait must call it until it returns nil. Spurious wake-ups are
  /// possible. Only wait on it: reading from it fails, and the subscriber closes it.
  ///
  /// Cost: one system call of the publisher for each frame after the first `poll()` that returned
  /// nil, and one or two of this process for each `poll()` that returns nil.
  public var eventDescriptor: Int32? { eventSource?.number }

  /// Waits for the next frame, as `SubscriberOptions.wait` says. Blocks the thread.
  ///
  /// Returns at the next frame, the end of the stream, the deadline or the signal, whichever is
  /// first; an available frame precedes the others. The publisher's death does not end the wait: it
  /// continues for the successor.
  ///
  /// Cost: a few loads while frames come faster than a core goes to sleep; otherwise one system
  /// call to sleep on the futex, one on the semaphore, two on the descriptor.
  /// - Parameters:
  ///   - deadline: when to give up.
  ///   - stop: ends the wait from another thread.
  /// - Throws: only errors that prevent this subscriber from receiving at all.
  public mutating func next(
    until deadline: Deadline = .never, stop: StopSignal? = nil
  ) throws(ReceiveError) -> Reception {
    while true {
      // Read before polling, so that a ring in between is noticed.
      let bell = doorbell.word.load()
      switch try pollAndArm() {
      case .frame(let lease): return .frame(lease)
      case .finished(let reason): return .finished(reason)
      case .nothing:
        if let ending = expired(deadline, stop) { return ending }
        sleepForFrame(bell, until: deadline, stop)
      case .awaitBell:
        if let ending = expired(deadline, stop) { return ending }
        let retry = Deadline.after(Self.retryInterval)
        doorbell.sleep(since: bell, stop: stop, until: min(deadline, retry))
      }
    }
  }

  /// Polls once. The event descriptor, if any, becomes readable for everything not seen here.
  @inline(__always)
  mutating func pollAndArm() throws(ReceiveError) -> Step {
    guard let eventSource else { return try step() }
    return try pollAndArm(eventSource)
  }

  private mutating func pollAndArm(_ eventSource: EventSource) throws(ReceiveError) -> Step {
    switch try step() {
    case .frame(let lease): return .frame(lease)
    case .finished(let reason): return .finished(reason)
    case .nothing: break
    case .awaitBell: break
    }
    // SYNC bell/silence: the bells are read, then comes the last poll. Pairs with the ring that
    // follows each publish (Bells.ring): that poll sees each frame whose ring is read here, and
    // any other ring is still to come.
    if !eventSource.silence(attachment?.bell) { attachment?.endWithBell() }
    // From now on the publisher rings for every frame, whether or not anybody sleeps: the user of
    // a descriptor does not announce its sleep.
    _ = attachment?.prepareToSleep(Int32(FB_WAITING_BELL))
    switch try step() {
    case .frame(let lease):
      // Another frame may follow this one, for which no bell would ring.
      eventSource.counter.raise()
      return .frame(lease)
    case .awaitBell:
      // The user's event loop has no timer to poll again.
      eventSource.raiseLater()
      return .awaitBell
    case .nothing: return .nothing
    case .finished(let reason): return .finished(reason)
    }
  }

  private func expired(_ deadline: Deadline, _ stop: StopSignal?) -> Reception? {
    if stop?.isRaised == true { return .stopped }
    return deadline.isPast ? .timedOut : nil
  }

  /// Publishes how this subscriber waits, and adds the attachment's bell to the event source.
  mutating func prepareToWait(for attachment: Attachment) {
    bellWatch = nil
    eventSource?.listen(to: attachment.bell)
    // Relaxed: informational.
    attachment.page.wait.storeRelaxed(options.wait.rawValue)
    crashPoint(.waitKindShown)
  }

  /// Whether anything has happened since the last poll, which found nothing.
  func hasNews(_ attachment: Attachment) -> Bool {
    if attachment.cursor > position { return true }
    return switch attachment.state {
    case .live: pauseSeen != nil
    case .paused(let reason): pauseSeen != reason
    case .finished: true
    }
  }

  private mutating func sleepForFrame(
    _ bell: UInt32, until deadline: Deadline, _ stop: StopSignal?
  ) {
    guard let attachment else { return }
    switch options.wait {
    case .futex: sleepOnFutex(attachment, bell, until: deadline, stop)
    case .spin: spin(attachment, bell, until: deadline, stop)
    case .semaphore: sleepOnSemaphore(attachment, bell, until: deadline, stop)
    case .eventDescriptor: waitOnDescriptor(until: deadline, stop)
    }
  }

  private mutating func sleepOnFutex(
    _ attachment: Attachment, _ bell: UInt32, until deadline: Deadline, _ stop: StopSignal?
  ) {
    if spinBudget.spin(until: { attachment.cursor > position }) { return }
    if futexCannotBeTrusted { return waitForBell(attachment, bell, until: deadline, stop) }
    let wake = attachment.prepareToSleep(Int32(FB_WAITING_FUTEX))
    defer { attachment.endSleep() }
    guard !hasNews(attachment) else { return }
    // SAFETY: the board is mapped as long as the attachment.
    let wasWoken = unsafe sleepOnFutexes(
      shared: attachment.board.wake.futex, expecting: wake,
      privates: (doorbell.word, bell), stop?.word,
      until: min(deadline, .afterNs(Self.longestSleepNs)))
    // A frame came without a wake-up.
    if !wasWoken, attachment.cursor > position { futexCannotBeTrusted = true }
    // Relaxed: only compared with its earlier value.
    if wasWoken, attachment.board.wake.loadRelaxed() == wake, doorbell.word.load() == bell,
      stop?.isRaised != true
    {
      wakesWithoutCause += 1
      if wakesWithoutCause > Self.maximumCauselessWakes { futexCannotBeTrusted = true }
    } else {
      wakesWithoutCause = 0
    }
  }

  /// Tolerated consecutive wake-ups without a cause. A late publisher causes one per frame, a
  /// signal one each. Any process that maps the board can cause any number.
  static let maximumCauselessWakes = 32

  /// How long to sleep on the shared futex without polling. Any process that maps the board, even
  /// read-only, can move its sleepers to another word (`FUTEX_CMP_REQUEUE`), or wait there in a way
  /// that makes waking fail (`FUTEX_WAIT_REQUEUE_PI`). A subscriber that detects this waits for its
  /// private bell from then on. Mistaking a late wake-up for a stolen one costs only speed.
  static let longestSleepNs: UInt64 = 250_000_000

  private mutating func spin(
    _ attachment: Attachment, _ bell: UInt32, until deadline: Deadline, _ stop: StopSignal?
  ) {
    while doorbell.word.load() == bell, !hasNews(attachment), expired(deadline, stop) == nil {
      for _ in 0..<256 {
        if attachment.cursor > position { return }
        spinHint()
      }
      // Lets other threads run, perhaps the publisher.
      yieldProcessor()
    }
  }

  private mutating func sleepOnSemaphore(
    _ attachment: Attachment, _ bell: UInt32, until deadline: Deadline, _ stop: StopSignal?
  ) {
    if spinBudget.spin(until: { attachment.cursor > position }) { return }
    // A publisher that sent no semaphore must ring the bell.
    guard let semaphore = attachment.semaphore else {
      return waitForBell(attachment, bell, until: deadline, stop)
    }
    _ = attachment.prepareToSleep(Int32(FB_WAITING_SEMAPHORE))
    defer { attachment.endSleep() }
    guard !hasNews(attachment) else { return }
    let doorbell = doorbell
    guard let stop else {
      return doorbell.sleep(on: semaphore, since: bell, until: deadline)
    }
    stop.observed(by: { doorbell.ring() }) {
      doorbell.sleep(on: semaphore, since: bell, until: deadline)
    }
  }

  private func waitOnDescriptor(until deadline: Deadline, _ stop: StopSignal?) {
    guard let eventSource else { return }
    _ = Platform.poll(eventSource.number, stop?.descriptorNumber, until: deadline)
  }

  /// Waits for the bell, which an event loop watches for this thread.
  private mutating func waitForBell(
    _ attachment: Attachment, _ bell: UInt32, until deadline: Deadline, _ stop: StopSignal?
  ) {
    let isWatched = listen(to: attachment, on: try? EventLoop.shared())
    _ = attachment.prepareToSleep(Int32(FB_WAITING_BELL))
    defer { attachment.endSleep() }
    guard !hasNews(attachment) else { return }
    let end = isWatched ? deadline : min(deadline, .afterNs(Self.longestSleepNs))
    doorbell.sleep(since: bell, stop: stop, until: end)
  }

  /// Watches the attachment's bell on a loop, and silences the bell before a last poll.
  /// - Returns: false if no loop can watch it.
  mutating func listen(to attachment: Attachment, on loop: EventLoop?) -> Bool {
    if bellWatch == nil || bellWatch?.loop !== loop {
      bellWatch = loop.flatMap { BellWatch(attachment.bell, $0, doorbell) }
    }
    guard let bellWatch else { return false }
    // SYNC bell/silence: as in `pollAndArm`, which has done it if there is an event descriptor.
    if eventSource == nil, !bellWatch.silence() { attachment.endWithBell() }
    return true
  }
}
