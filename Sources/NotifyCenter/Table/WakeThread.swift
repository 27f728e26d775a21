import Platform
import Synchronization

/// Rings the observers that posting threads leave to it: those beyond the first few, those that are
/// slow to wake, and those in a storm of posts. What is left when the process ends in order is rung
/// then.
final class WakeThread: Sendable {
  static let shared = WakeThread()

  private struct State {
    var left: [Ring] = []
    var isAsleep = false
    var hasStarted = false
  }

  private let state = Mutex(State())
  /// Held during a round, so that the end of the process waits for it.
  private let round = Mutex<Void>(())
  private let requests = PrivateFutexWord()

  /// How long it rests between two rounds, in which the posts of a storm become one ring each.
  private static let pace: Duration = .microseconds(100)
  /// The same when the kernel is short of something.
  private static let slowPace: Duration = .milliseconds(10)

  private init() {}

  /// Leaves seats to this thread.
  func leave(_ rings: [Ring]) {
    let new = rings.filter { $0.seats.markLeft($0.seat) }
    if new.isEmpty { return }
    let (mustStart, mustWake) = state.withLock { state in
      state.left += new
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
      // No more threads: whoever posts next tries again.
      state.withLock { $0.hasStarted = false }
      _ = ringAll()
    }
  }

  private func run() {
    while true {
      let request = requests.load()
      let isIdle = state.withLock { state in
        state.isAsleep = state.left.isEmpty
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

  /// - Returns: false if some are left over, to be tried again.
  private func ringAll() -> Bool {
    round.withLock { _ in
      let rings = state.withLock { state in
        defer { state.left = [] }
        return state.left
      }
      let failed = rings.filter { !$0.seats.ringLeft($0) }
      leave(failed)
      return failed.isEmpty
    }
  }
}
