import CFrameLayout
import Platform

extension Subscriber {
  /// Waits for the next frame, asleep on a futex after a short spin. Blocks the thread.
  /// - Parameters:
  ///   - deadline: when to give up.
  ///   - stop: ends the wait from another thread.
  /// - Throws: only what keeps this subscriber from receiving at all. The publisher's death is no
  ///   error: the wait goes on for its successor.
  public mutating func next(
    until deadline: Deadline = .never, stop: StopSignal? = nil
  ) throws(ReceiveError) -> Reception {
    while true {
      // Read before looking, so that a ring in between is noticed.
      let bell = doorbell.word.load()
      switch try step() {
      case .frame(let hold): return .frame(lease(hold))
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

  private mutating func sleepForFrame(_ bell: UInt32, until deadline: Deadline, _ stop: StopSignal?)
  {
    guard let attachment else { return }
    for _ in 0..<spin.turns {
      if attachment.cursor > position { return spin.succeeded() }
      spinHint()
    }
    spin.failed()
    let how = futexCannotBeTrusted ? FB_WAITING_BELL : FB_WAITING_FUTEX
    let wake = attachment.prepareToSleep(Int32(how))
    defer { attachment.endSleep() }
    guard attachment.cursor <= position, attachment.finishReason == nil else { return }
    if futexCannotBeTrusted { return doorbell.sleep(since: bell, stop: stop, until: deadline) }
    // SAFETY: the board is mapped as long as the attachment.
    let wasWoken = unsafe sleepOnFutexes(
      shared: attachment.board.wake.futex, expecting: wake,
      privates: (doorbell.word, bell), stop?.word, until: min(deadline, .after(Self.longestSleep)))
    // A frame came and nobody woke us.
    if !wasWoken, attachment.cursor > position { futexCannotBeTrusted = true }
  }

  /// How long to sleep on the shared futex without looking. Whoever maps the board, if only for
  /// reading, can move its sleepers to a word of its own (`FUTEX_CMP_REQUEUE`), where no publisher
  /// wakes them. A subscriber that this happens to waits for its bell from then on, which is its
  /// own socket. One that mistakes a late wake-up for a theft loses nothing but speed.
  private static let longestSleep: Duration = .milliseconds(250)

  /// Waits for the next frame without blocking a thread: the publisher rings a socket that the
  /// process's event loop watches.
  /// - Returns: nil when the stream finished or the task was cancelled.
  public mutating func next() async throws(ReceiveError) -> FrameLease? {
    while !Task.isCancelled {
      let bell = doorbell.word.load()
      switch try step() {
      case .frame(let hold): return lease(hold)
      case .finished: return nil
      case .nothing:
        guard let attachment else { continue }
        _ = attachment.prepareToSleep(Int32(FB_WAITING_BELL))
        if attachment.cursor <= position, attachment.finishReason == nil {
          await suspend(since: bell)
        }
        attachment.endSleep()
      case .awaitBell:
        ringLater()
        await suspend(since: bell)
      }
    }
    return nil
  }

  private func suspend(since bell: UInt32) async {
    let doorbell = doorbell
    await withTaskCancellationHandler {
      await doorbell.waitSuspended(since: bell)
    } onCancel: {
      doorbell.ring()
    }
  }

  /// Looks again in a while, in case a successor appeared unseen.
  private func ringLater() {
    let doorbell = doorbell
    try? EventLoop.shared().schedule(at: .after(Self.retryInterval)) { doorbell.ring() }
  }
}

extension Doorbell {
  /// Sleeps, blocking the thread, until the bell has rung since `seen` was read.
  func sleep(since seen: UInt32, stop: StopSignal?, until deadline: Deadline) {
    // SAFETY: watches only words of this process.
    unsafe sleepOnFutexes(
      shared: nil, expecting: 0, privates: (word, seen), stop?.word, until: deadline)
  }
}
