#if Media
  import Platform
  import Synchronization

  /// A connection that is being made, for as long as somebody waits for it.
  final class Connecting<Connected: Sendable>: Sendable {
    private let result = Mutex<Result<Connected, ScreenError>?>(nil)
    private let isDone = PrivateFutexWord()

    func finish(_ outcome: Result<Connected, ScreenError>) {
      result.withLock { $0 = outcome }
      isDone.store(1)
      isDone.wakeAll()
    }

    /// - Returns: nil if the deadline passed, or the signal was raised, before there was a result.
    func wait(until deadline: Deadline, stop: StopSignal) -> Result<Connected, ScreenError>? {
      while isDone.load() == 0, !deadline.isPast, !stop.isRaised {
        // SAFETY: watches only words of this process.
        unsafe sleepOnFutexes(
          shared: nil, expecting: 0, privates: (isDone, 0), stop.word, until: deadline)
      }
      return result.withLock { $0 }
    }
  }
#endif
