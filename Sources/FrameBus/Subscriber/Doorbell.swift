import Platform
import Synchronization

/// Wakes a subscriber for everything except a frame: the publisher's death, a new pool, a new
/// publisher, a cancelled task. The loop thread rings it; the subscriber waits for it and for
/// frames at the same time, in every kind of wait.
final class Doorbell: Sendable {
  /// Incremented at every ring. Threads sleep on it.
  let word = PrivateFutexWord()
  /// Raised at every ring, if the subscriber waits on a descriptor.
  private let event: EventCounter?

  private enum Waiter {
    /// Nobody, or a thread that sleeps on the word or the event.
    case thread
    case semaphore(WakeSemaphore)
    case task(CheckedContinuation<Void, Never>)
  }
  private struct State {
    var waiter = Waiter.thread
    var hub: Doorbell?
  }
  private let state = Mutex(State())

  init(_ event: EventCounter? = nil) { self.event = event }

  /// Forwards rings to the doorbell of a subscriber set; nil ends the forwarding.
  func forward(to hub: Doorbell?) { state.withLock { $0.hub = hub } }

  func ring() {
    event?.raise()
    wake()?.ring()
  }

  /// Like `ring`, for a frame's bell, which the event descriptor already watches.
  func relay() { wake()?.relay() }

  /// Returns the hub, which the caller must ring.
  private func wake() -> Doorbell? {
    word.increment()
    return state.withLock { state in
      switch state.waiter {
      case .thread: if state.hub == nil { word.wakeAll() }
      case .semaphore(let semaphore): semaphore.post()
      case .task(let continuation):
        state.waiter = .thread
        continuation.resume()
      }
      return state.hub
    }
  }

  /// Sleeps, blocking the thread, until the bell has rung since `seen` was read.
  func sleep(since seen: UInt32, stop: StopSignal?, until deadline: Deadline) {
    // SAFETY: watches only words of this process.
    unsafe sleepOnFutexes(
      shared: nil, expecting: 0, privates: (word, seen), stop?.word, until: deadline)
  }

  /// Sleeps until the semaphore is posted, by any process, or the bell has rung.
  func sleep(on semaphore: WakeSemaphore, since seen: UInt32, until deadline: Deadline) {
    let hasRung = state.withLock { state in
      state.waiter = .semaphore(semaphore)
      return word.load() != seen
    }
    if !hasRung { semaphore.wait(until: deadline) }
    state.withLock { $0.waiter = .thread }
  }

  /// Suspends the task until the bell has rung since `seen` was read, on any executor.
  nonisolated(nonsending) func suspend(since seen: UInt32) async {
    await withCheckedContinuation { continuation in
      let hasRung = state.withLock { state in
        if word.load() != seen { return true }
        state.waiter = .task(continuation)
        return false
      }
      if hasRung { continuation.resume() }
    }
  }
}
