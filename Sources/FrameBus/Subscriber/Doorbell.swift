import Platform
import Synchronization

/// What wakes a subscriber for anything but a frame: the publisher's death, a new pool, a new
/// publisher, a cancelled task. Rung by the loop thread; the subscriber waits for it besides its
/// frames, in whichever way it sleeps.
final class Doorbell: Sendable {
  /// Changes at every ring. Threads sleep on it.
  let word = PrivateFutexWord()
  /// What is raised at every ring, if the subscriber waits on a descriptor.
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

  /// Rings another one instead, of who waits for several subscribers at once; nil for none any
  /// more.
  func forward(to hub: Doorbell?) { state.withLock { $0.hub = hub } }

  func ring() {
    event?.raise()
    wake()?.ring()
  }

  /// As `ring`, for a frame's bell, which the event descriptor hears by itself.
  func hear() { wake()?.hear() }

  /// Returns the hub, which is yet to be told.
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

  /// Sleeps until the semaphore is posted, by whomever, or the bell has rung.
  func sleep(on semaphore: WakeSemaphore, since seen: UInt32, until deadline: Deadline) {
    let hasRung = state.withLock { state in
      state.waiter = .semaphore(semaphore)
      return word.load() != seen
    }
    if !hasRung { semaphore.wait(until: deadline) }
    state.withLock { $0.waiter = .thread }
  }

  /// Suspends the task until the bell has rung since `seen` was read, on whatever it runs.
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
