import Platform
import Synchronization

/// Wakes the sleepers of a stream: quick wake-ups on the publishing thread, all others on the wake
/// thread.
///
/// The publishing thread wakes only a few at once and makes no call that a peer can prolong. A
/// member of the group can park thousands of threads on the board's futex, or poll its bell with
/// them; waking those takes milliseconds.
final class Waker: Sendable {
  let bells = Bells()
  private let board: Board

  /// Wake-ups that the wake thread has yet to make.
  private let lateFutex = Atomic<Bool>(false)
  private let lateBells = Atomic<UInt64>(0)
  private let lateSemaphores = Atomic<UInt64>(0)
  /// Incremented by each request; the wake thread sleeps on it.
  private let requests = PrivateFutexWord()
  private let isIdle = Atomic<Bool>(false)
  private let hasStarted = Atomic<Bool>(false)
  private let hasEnded = Atomic<Bool>(false)
  private let futexPace = Pace()

  /// With more sleepers than these, all are left to the wake thread. The kernel wakes those on the
  /// futex in one call; each bell is a call.
  private static let mostOnFutex = 8
  private static let mostBells = 4

  /// - Parameter board: its mapping is kept alive by the owner passed to `start`.
  init(_ board: Board) { self.board = board }

  /// Publishing thread: wakes all sleepers.
  func wake(_ sleepers: Sleepers) {
    guard sleepers.onFutex <= Self.mostOnFutex, sleepers.bellCount <= Self.mostBells else {
      return wakeLater(sleepers)
    }
    var left = bells.ringQuickly(sleepers)
    crashPoint(.bellsRung)
    if sleepers.onFutex > 0, futexPace.isSlow || !wakeFewOnFutex() { left.onFutex = 1 }
    crashPoint(.sleepersWoken)
    if !left.isEmpty { wakeLater(left) }
  }

  /// - Returns: false if more than `mostOnFutex` threads slept there.
  private func wakeFewOnFutex() -> Bool {
    // SAFETY: the board is mapped as long as the publisher that calls this.
    let count = unsafe wakeSleepers(on: board.wake.futex, atMost: Int32(Self.mostOnFutex) + 1)
    return count <= Self.mostOnFutex
  }

  private func wakeLater(_ sleepers: Sleepers) {
    if sleepers.onFutex > 0 { lateFutex.store(true, ordering: .sequentiallyConsistent) }
    lateBells.bitwiseOr(sleepers.bells, ordering: .sequentiallyConsistent)
    lateSemaphores.bitwiseOr(sleepers.semaphores, ordering: .sequentiallyConsistent)
    requests.increment()
    // Dekker within the process: our stores of the late wake-ups, then our load of `isIdle`; the
    // wake thread's store of `isIdle`, then its last load of them. All sequentially consistent.
    if isIdle.load(ordering: .sequentiallyConsistent) { requests.wakeAll() }
  }

  // MARK: The wake thread

  /// Control plane: starts the wake thread, unless it runs.
  /// - Parameter owner: keeps the board mapped; retained until `end`.
  func start(keeping owner: AnyObject & Sendable) throws(SystemError) {
    guard !hasStarted.load(ordering: .acquiring) else { return }
    try startThread(named: "framebus-waker") { [self] in
      withExtendedLifetime(owner) { run() }
    }
    hasStarted.store(true, ordering: .releasing)
  }

  /// Ends the wake thread after its pending wake-ups.
  func end() {
    hasEnded.store(true, ordering: .sequentiallyConsistent)
    requests.increment()
    requests.wakeAll()
  }

  private func run() {
    while true {
      let request = requests.load()
      let late = takeLate()
      if !late.isEmpty {
        wakeAll(late)
        continue
      }
      if hasEnded.load(ordering: .sequentiallyConsistent) { return }
      isIdle.store(true, ordering: .sequentiallyConsistent)
      if !hasLate {
        // SAFETY: watches only a word of this process.
        unsafe sleepOnFutexes(
          shared: nil, expecting: 0, privates: (requests, request), until: .never)
      }
      isIdle.store(false, ordering: .sequentiallyConsistent)
    }
  }

  private var hasLate: Bool {
    lateFutex.load(ordering: .sequentiallyConsistent)
      || lateBells.load(ordering: .sequentiallyConsistent) != 0
      || lateSemaphores.load(ordering: .sequentiallyConsistent) != 0
  }

  private func takeLate() -> Sleepers {
    Sleepers(
      onFutex: lateFutex.exchange(false, ordering: .sequentiallyConsistent) ? 1 : 0,
      bells: lateBells.exchange(0, ordering: .sequentiallyConsistent),
      semaphores: lateSemaphores.exchange(0, ordering: .sequentiallyConsistent))
  }

  private func wakeAll(_ sleepers: Sleepers) {
    // Bells first: other threads parked on the futex may take long.
    bells.ring(sleepers)
    guard sleepers.onFutex > 0 else { return }
    // SAFETY: the owner keeps the board mapped while this thread runs.
    let count = unsafe wakeSleepers(on: board.wake.futex)
    futexPace.note(isSlow: count > Seats.count)
  }
}
