import CFrameLayout
import Platform

extension SubscriberSet {
  /// Waits for the next frame of any member. Blocks the thread.
  ///
  /// If all members wait by `.futex`, it sleeps on all their words in one system call, up to 126 of
  /// them. If all wait by `.spin`, it spins over them. All other sets wait for bells, one from each
  /// publisher.
  /// - Parameters:
  ///   - deadline: when to give up.
  ///   - stop: ends the wait from another thread.
  public mutating func next(
    until deadline: Deadline = .never, stop: StopSignal? = nil
  ) throws(MemberError) -> Arrival {
    while true {
      // Read before polling, so that a ring in between is noticed.
      let bell = hub.word.load()
      if let found = try pollMembers() { return found }
      if stop?.isRaised == true { return .stopped }
      if deadline.isPast { return .timedOut }
      sleep(since: bell, until: min(deadline, retryDeadline), stop)
    }
  }

  /// Like the other `next`, without blocking a thread: see `Subscriber.next`. Cancelling the task
  /// ends the wait with `.stopped`.
  nonisolated(nonsending)
    public mutating func next(
      until deadline: Deadline = .never
    ) async throws(MemberError) -> Arrival
  {
    while !Task.isCancelled {
      let bell = hub.word.load()
      if let found = try pollMembers() { return found }
      if deadline.isPast { return .timedOut }
      let end = min(deadline, retryDeadline)
      let loop = EventLoop.current ?? (try? EventLoop.shared())
      var isWatched = true
      for entry in entries {
        guard let attachment = entry.attachment else { continue }
        if entry.subscriber?.listen(to: attachment, on: loop) != true { isWatched = false }
      }
      announce(FB_WAITING_BELL)
      if !hasNews {
        await hub.suspend(
          since: bell, until: isWatched ? end : min(end, .afterNs(Subscriber.longestSleepNs)))
      }
      endSleep()
    }
    return .stopped
  }

  /// When to poll again, in case a publisher that a member waits for started unnoticed.
  private var retryDeadline: Deadline {
    entries.contains(where: \.awaitsBell) ? .after(Subscriber.retryInterval) : .never
  }

  private var hasNews: Bool { entries.contains(where: \.hasNews) }

  private mutating func sleep(since bell: UInt32, until deadline: Deadline, _ stop: StopSignal?) {
    let entries = self.entries
    if entries.allSatisfy({ $0.subscriber?.options.wait == .spin }) {
      return spin(since: bell, until: deadline, stop)
    }
    if spinBudget.spin(until: { entries.contains(where: \.hasFrame) }) { return }
    if sleepsOnFutex {
      sleepOnFutexes(since: bell, until: deadline, stop)
    } else if let stop {
      let hub = hub
      stop.observed(by: { hub.ring() }) { waitForBells(since: bell, until: deadline) }
    } else {
      waitForBells(since: bell, until: deadline)
    }
  }

  /// Two words are reserved for the hub and the stop signal.
  private var sleepsOnFutex: Bool {
    entries.count <= FutexWaits.maximumCount - 2
      && entries.allSatisfy {
        $0.subscriber?.options.wait == .futex && $0.subscriber?.futexCannotBeTrusted == false
      }
  }

  private func spin(since bell: UInt32, until deadline: Deadline, _ stop: StopSignal?) {
    while hub.word.load() == bell, stop?.isRaised != true, !deadline.isPast, !hasNews {
      for _ in 0..<64 {
        if entries.contains(where: \.hasFrame) { return }
        spinHint()
      }
      yieldProcessor()
    }
  }

  private mutating func sleepOnFutexes(
    since bell: UInt32, until deadline: Deadline, _ stop: StopSignal?
  ) {
    words.removeAll()
    for entry in entries {
      guard let attachment = entry.attachment else { continue }
      let wake = attachment.prepareToSleep(Int32(FB_WAITING_FUTEX))
      // SAFETY: the entry keeps the attachment and so the board's mapping during the sleep.
      unsafe words.add(shared: attachment.board.wake.futex, expecting: wake)
    }
    defer { endSleep() }
    guard !hasNews else { return }
    words.add(hub.word, expecting: bell)
    if let stop { words.add(stop.word, expecting: 0) }
    if words.sleep(until: min(deadline, .afterNs(Subscriber.longestSleepNs))) {
      let isCauseless = !hasNews && hub.word.load() == bell && stop?.isRaised != true
      wakesWithoutCause = isCauseless ? wakesWithoutCause + 1 : 0
      if wakesWithoutCause > Subscriber.maximumCauselessWakes {
        // The stream is unknown, so all members switch to their bells.
        wakesWithoutCause = 0
        for entry in entries { entry.subscriber?.futexCannotBeTrusted = true }
      }
      return
    }
    // A frame came without a wake-up: that member's wake-up was stolen.
    for entry in entries where entry.hasFrame { entry.subscriber?.futexCannotBeTrusted = true }
  }

  private func waitForBells(since bell: UInt32, until deadline: Deadline) {
    for entry in entries { entry.hold(in: bells) }
    announce(FB_WAITING_BELL)
    if !hasNews, hub.word.load() == bell {
      bells.wait(until: deadline) { tag in
        // SYNC bell/silence: silenced after the wait and before the next poll, as in `pollAndArm`.
        if tag == 0 {
          hubEvent.lower()
        } else {
          entries.first { $0.member.id == tag }?.silence(in: bells)
        }
      }
    }
    endSleep()
  }

  private func announce(_ how: some FixedWidthInteger) {
    for entry in entries { _ = entry.attachment?.prepareToSleep(Int32(how)) }
  }

  private func endSleep() {
    for entry in entries where entry.subscriber?.eventSource == nil { entry.attachment?.endSleep() }
  }
}
