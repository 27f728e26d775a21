import CFrameLayout
import Platform

extension Subscriber {
  /// Waits for the next frame, in the way that the options say. Blocks the thread.
  ///
  /// It ends with the next frame, the end of the stream, the deadline or the signal, whichever
  /// comes first; a frame that is there comes before all others. The publisher's death, at which it
  /// wakes up, ends nothing: the wait goes on for its successor.
  ///
  /// Cost: none but a few loads while frames come faster than a core falls asleep; otherwise one
  /// system call to sleep on the futex, one on the semaphore, two on the descriptor.
  /// - Parameters:
  ///   - deadline: when to give up.
  ///   - stop: ends the wait from another thread.
  /// - Throws: only what keeps this subscriber from receiving at all.
  public mutating func next(
    until deadline: Deadline = .never, stop: StopSignal? = nil
  ) throws(ReceiveError) -> Reception {
    while true {
      // Read before looking, so that a ring in between is noticed.
      let bell = doorbell.word.load()
      switch try lookAndArm() {
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

  private func expired(_ deadline: Deadline, _ stop: StopSignal?) -> Reception? {
    if stop?.isRaised == true { return .stopped }
    return deadline.isPast ? .timedOut : nil
  }

  /// What an attachment is told of how this subscriber waits, and what of it is waited for.
  mutating func prepareToWait(for attachment: Attachment) {
    bellWatch = nil
    eventSource?.listen(to: attachment.bell)
    // Relaxed: for people.
    attachment.page.wait.storeRelaxed(options.wait.rawValue)
    crashPoint(.waitKindShown)
  }

  /// Whether there is something to look at since the last look, which found nothing.
  func hasNews(_ attachment: Attachment) -> Bool {
    if attachment.cursor > position { return true }
    return switch attachment.state {
    case .live: pauseSeen
    case .paused: !pauseSeen
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
      privates: (doorbell.word, bell), stop?.word, until: min(deadline, .after(Self.longestSleep)))
    // A frame came and nobody woke us.
    if !wasWoken, attachment.cursor > position { futexCannotBeTrusted = true }
    // Relaxed: compared with what it was, no more.
    if wasWoken, attachment.board.wake.loadRelaxed() == wake, doorbell.word.load() == bell,
      stop?.isRaised != true
    {
      wakesWithoutCause += 1
      if wakesWithoutCause > Self.mostWakesWithoutCause { futexCannotBeTrusted = true }
    } else {
      wakesWithoutCause = 0
    }
  }

  /// Wake-ups for nothing, one after the other, that are put up with. A publisher that is late
  /// makes one a frame, a signal one each. Whoever maps the board can make any number.
  static let mostWakesWithoutCause = 32

  /// How long to sleep on the shared futex without looking. Whoever maps the board, if only for
  /// reading, can move its sleepers to a word of its own (`FUTEX_CMP_REQUEUE`), or wait there in a
  /// way that makes waking fail (`FUTEX_WAIT_REQUEUE_PI`). A subscriber that this happens to waits
  /// for its bell from then on, which is its own. One that mistakes a late wake-up for a theft
  /// loses nothing but speed.
  static let longestSleep: Duration = .milliseconds(250)

  private mutating func spin(
    _ attachment: Attachment, _ bell: UInt32, until deadline: Deadline, _ stop: StopSignal?
  ) {
    while doorbell.word.load() == bell, !hasNews(attachment), expired(deadline, stop) == nil {
      for _ in 0..<256 {
        if attachment.cursor > position { return }
        spinHint()
      }
      // Who waits for this processor, perhaps the publisher, comes first.
      yieldProcessor()
    }
  }

  private mutating func sleepOnSemaphore(
    _ attachment: Attachment, _ bell: UInt32, until deadline: Deadline, _ stop: StopSignal?
  ) {
    if spinBudget.spin(until: { attachment.cursor > position }) { return }
    // A publisher that sent no semaphore has to ring the bell.
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

  /// Waits for the bell, which an event loop hears for this thread.
  private mutating func waitForBell(
    _ attachment: Attachment, _ bell: UInt32, until deadline: Deadline, _ stop: StopSignal?
  ) {
    let isHeard = listen(to: attachment, on: try? EventLoop.shared())
    _ = attachment.prepareToSleep(Int32(FB_WAITING_BELL))
    defer { attachment.endSleep() }
    guard !hasNews(attachment) else { return }
    let end = isHeard ? deadline : min(deadline, .after(Self.longestSleep))
    doorbell.sleep(since: bell, stop: stop, until: end)
  }

  /// Has a loop hear the attachment's bell, and silences the bell before a last look.
  /// - Returns: false if no loop can hear it.
  mutating func listen(to attachment: Attachment, on loop: EventLoop?) -> Bool {
    if bellWatch == nil || bellWatch?.loop !== loop {
      bellWatch = loop.flatMap { BellWatch(attachment.bell, $0, doorbell) }
    }
    guard let bellWatch else { return false }
    // SYNC bell/silence: as in `lookAndArm`, which has done it for who has an event descriptor.
    if eventSource == nil, !bellWatch.silence() { attachment.endWithBell() }
    return true
  }
}
