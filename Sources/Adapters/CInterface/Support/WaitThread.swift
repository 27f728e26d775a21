import Platform

/// Makes a descriptor of a wait that only a thread can do, such as one on a futex: a thread of its
/// own waits, and then raises the descriptor.
///
/// The caller arms it after an attempt that failed. Whatever made the next attempt possible since
/// then ends the wait, so none is missed; the descriptor may be raised for nothing.
final class WaitThread: Sendable {
  private let event: EventCounter
  private let stop: StopSignal
  private let requests = PrivateFutexWord()
  private let hasEnded = PrivateFutexWord()

  /// - Parameter wait: returns when an attempt may succeed, or when the signal is raised.
  init(
    named name: String, _ wait: @escaping @Sendable (StopSignal) -> Void
  ) throws(CFailure) {
    event = try SystemError.converted(try EventCounter())
    stop = try SystemError.converted(try StopSignal())
    // Nothing was attempted yet.
    event.raise()
    try SystemError.converted(try startThread(named: name) { [self] in run(wait) })
  }

  /// Readable unless the wait is armed and has not ended.
  var descriptor: Int32 { event.number }

  /// Begins a wait. Any thread.
  func arm() {
    event.lower()
    requests.increment()
    requests.wakeAll()
  }

  /// Ends the wait and the thread, and returns when they have ended. The descriptor stays raised.
  func end() {
    stop.raise()
    while hasEnded.load() == 0 { Self.sleep(hasEnded, 0, nil) }
  }

  private func run(_ wait: (StopSignal) -> Void) {
    var seen: UInt32 = 0
    while !stop.isRaised {
      let request = requests.load()
      if request == seen {
        Self.sleep(requests, seen, stop)
        continue
      }
      // Read before the wait, so that a request during it begins another one.
      seen = request
      wait(stop)
      event.raise()
    }
    event.raise()
    hasEnded.store(1)
    hasEnded.wakeAll()
  }

  private static func sleep(_ word: PrivateFutexWord, _ value: UInt32, _ stop: StopSignal?) {
    // SAFETY: watches only words of this process.
    unsafe sleepOnFutexes(
      shared: nil, expecting: 0, privates: (word, value), stop?.word, until: .never)
  }
}
