import CFrameLayout
import Platform

extension Subscriber {
  /// Waits for the next frame without blocking a thread: the publisher rings a socket that an event
  /// loop watches, and the task resumes.
  ///
  /// On a ``FrameExecutor`` the task resumes at once, on the thread that received the bell.
  /// Elsewhere the process's shared loop receives it, and the task resumes on its own executor,
  /// which takes a context switch. Cancelling the task ends the wait.
  /// - Returns: nil when the stream finished or the task was cancelled.
  nonisolated(nonsending)
    public mutating func next() async throws(ReceiveError) -> FrameLease?
  {
    guard case .frame(let lease) = try await next(until: .never) else { return nil }
    return lease
  }

  /// Like `next()`, with a deadline.
  /// - Returns: `.stopped` if the task was cancelled.
  nonisolated(nonsending)
    public mutating func next(until deadline: Deadline) async throws(ReceiveError) -> Reception
  {
    while !Task.isCancelled {
      let bell = doorbell.word.load()
      switch try pollAndArm() {
      case .frame(let lease): return .frame(lease)
      case .finished(let reason): return .finished(reason)
      case .nothing:
        if deadline.isPast { return .timedOut }
        await sleepForBell(since: bell, until: deadline)
      case .awaitBell:
        if deadline.isPast { return .timedOut }
        await doorbell.suspend(since: bell, until: min(deadline, .after(Self.retryInterval)))
      }
    }
    return .stopped
  }

  nonisolated(nonsending)
    private mutating func sleepForBell(since bell: UInt32, until deadline: Deadline) async
  {
    guard let attachment else { return }
    let isWatched = listen(to: attachment, on: EventLoop.current ?? (try? EventLoop.shared()))
    _ = attachment.prepareToSleep(Int32(FB_WAITING_BELL))
    if !hasNews(attachment) {
      let end = isWatched ? deadline : min(deadline, .afterNs(Self.longestSleepNs))
      await doorbell.suspend(since: bell, until: end)
    }
    if eventSource == nil { attachment.endSleep() }
  }
}

extension Doorbell {
  /// Suspends the task until the bell has rung since `seen` was read, the deadline has passed, or
  /// the task is cancelled.
  nonisolated(nonsending)
    func suspend(since seen: UInt32, until deadline: Deadline) async
  {
    var alarm: Alarm?
    if deadline != .never { alarm = Alarm(self, at: deadline) }
    await withTaskCancellationHandler {
      await suspend(since: seen)
    } onCancel: {
      ring()
    }
    alarm?.cancel()
  }

  /// Rings at a moment, unless it is cancelled before.
  private struct Alarm {
    private let loop: EventLoop
    private let timer: EventLoop.Token

    init?(_ doorbell: Doorbell, at deadline: Deadline) {
      guard let loop = EventLoop.current ?? (try? EventLoop.shared()) else { return nil }
      self.loop = loop
      timer = loop.schedule(at: deadline) { doorbell.ring() }
    }

    func cancel() { loop.cancel(timer) }
  }
}
