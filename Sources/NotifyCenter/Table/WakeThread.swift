import Platform
import Synchronization

/// Rings observers for posting threads: those beyond the first few, those that are slow to wake,
/// and those in a storm of posts. An orderly exit of the process rings the queued ones.
final class WakeThread: Sendable {
  static let shared = WakeThread()

  private struct State {
    var queued: [Ring] = []
    var isAsleep = false
    var hasStarted = false
  }

  private let state = Mutex(State())
  /// Held during a round, so that the process's exit waits for it.
  private let round = Mutex<Void>(())
  private let requests = PrivateFutexWord()

  /// Pause between two rounds, in which the posts of a storm become one ring each.
  private static let pace: Duration = .microseconds(100)
  /// The pause when the kernel is short of resources.
  private static let slowPace: Duration = .milliseconds(10)

  private init() {}

  /// Queues rings for this thread.
  func enqueue(_ rings: [Ring]) {
    let new = rings.filter { $0.registrations.markQueued($0.index) }
    if new.isEmpty { return }
    let (mustStart, mustWake) = state.withLock { state in
      state.queued += new
      defer {
        state.hasStarted = true
        state.isAsleep = false
      }
      return (!state.hasStarted, state.isAsleep)
    }
    if mustStart { start() }
    guard mustWake else { return }
    requests.increment()
    requests.wakeAll()
  }

  private func start() {
    atExit { _ = WakeThread.shared.ringAll() }
    do {
      try startThread(named: "framebus-ringer") { [self] in run() }
    } catch {
      // The kernel allows no more threads. The next post tries again.
      state.withLock { $0.hasStarted = false }
      _ = ringAll()
    }
  }

  private func run() {
    while true {
      let request = requests.load()
      let isIdle = state.withLock { state in
        state.isAsleep = state.queued.isEmpty
        return state.isAsleep
      }
      if isIdle {
        // SAFETY: watches only a word of this process.
        unsafe sleepOnFutexes(
          shared: nil, expecting: 0, privates: (requests, request), until: .never)
        continue
      }
      let pace = Deadline.after(Self.pace)
      sleep(until: ringAll() ? pace : .after(Self.slowPace))
    }
  }

  /// - Returns: false if some rings failed and were queued again.
  private func ringAll() -> Bool {
    round.withLock { _ in
      let rings = state.withLock { state in
        defer { state.queued = [] }
        return state.queued
      }
      let failed = rings.filter { !$0.registrations.ringQueued($0) }
      enqueue(failed)
      return failed.isEmpty
    }
  }
}
