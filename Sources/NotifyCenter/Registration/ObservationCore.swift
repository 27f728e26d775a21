import Platform
import Synchronization

/// One observation: the posts delivered so far, and the way to deliver more.
final class ObservationCore: Sendable {
  /// How an observer is notified.
  enum Mode: Sendable {
    case closure(@Sendable (Delivery) -> Void)
    case sequence
    case descriptor(EventCounter)
    case signal(Int32)
    case check
  }

  let name: NotificationName
  let word: NameWord
  let counter: EventCounter?
  /// The generation at the start: later posts are delivered.
  let begun: UInt64
  private let center: CenterCore
  private let observer: TableObserver?
  /// The generation at the last check; initially one that no check finds.
  private let checked = Atomic<UInt64>(.max)
  private let state: Mutex<State>
  /// Whether the closure runs. Set under the lock; cleared when the closure's captures may go.
  private let isRunning = Atomic<Bool>(false)

  private struct State {
    /// Nil once cancelled, to release the closure's captures.
    var mode: Mode?
    var delivered: UInt64
    /// The generation that a signal or a descriptor last reported.
    var reported: UInt64
    var suspensions = 0
    var isReset = false
    var waiter: Waiter?
    /// The latest claimed poster, and the generation of its post.
    var hint: Registration.Hint?
  }

  /// A task that waits for a delivery. An object, because the compiler does not know a
  /// continuation's size: each access to the state would ask the runtime for it.
  private final class Waiter: Sendable {
    private let continuation: CheckedContinuation<Delivery?, Never>

    init(_ continuation: CheckedContinuation<Delivery?, Never>) {
      self.continuation = continuation
    }

    func resume(returning delivery: Delivery?) { continuation.resume(returning: delivery) }
  }

  /// - Parameter observer: nil for an observation by check.
  init(_ word: NameWord, _ mode: Mode, _ observer: TableObserver?, of center: CenterCore) {
    name = word.name
    self.word = word
    self.center = center
    self.observer = observer
    begun = word.generation
    state = Mutex(State(mode: mode, delivered: begun, reported: begun))
    if case .descriptor(let counter) = mode { self.counter = counter } else { counter = nil }
  }

  func check() -> Bool {
    let generation = word.generation
    // Relaxed: the exchange decides; this load avoids it if nothing was posted.
    if checked.load(ordering: .relaxed) == generation { return false }
    return checked.exchange(generation, ordering: .acquiringAndReleasing) != generation
  }

  // MARK: Notifying

  /// Called on the closures' thread after a post. It runs for each delivery in each process that
  /// was asleep, whose caches are cold, so it allocates no collections.
  /// - Parameter hint: what a datagram claims of the newest post.
  func offer(_ hint: Registration.Hint? = nil) {
    let call = state.withLock { state in
      if let hint { state.hint = hint }
      return notify(&state)
    }
    guard let call else { return }
    call.handler(call.delivery)
    isRunning.store(false, ordering: .releasing)
  }

  /// A closure to call outside the lock. Noncopyable, because the runtime would destroy an optional
  /// of a copyable one by its type's metadata.
  private struct Call: ~Copyable {
    let handler: @Sendable (Delivery) -> Void
    let delivery: Delivery
  }

  private func notify(_ state: inout State) -> Call? {
    guard let mode = state.mode, state.suspensions == 0 else { return nil }
    switch mode {
    case .closure(let handler):
      guard let delivery = takeDelivery(&state) else { break }
      // Relaxed: `cancel` reads it under the same lock.
      isRunning.store(true, ordering: .relaxed)
      return Call(handler: handler, delivery: delivery)
    case .sequence:
      guard let waiter = state.waiter, let delivery = takeDelivery(&state) else { break }
      state.waiter = nil
      waiter.resume(returning: delivery)
    case .descriptor(let counter):
      if hasNewPost(&state) { counter.raise() }
    case .signal(let number):
      if hasNewPost(&state) { Signal.sendToSelf(number) }
    case .check: break
    }
    return nil
  }

  private func hasNewPost(_ state: inout State) -> Bool {
    let generation = word.generation
    defer { state.reported = generation }
    return generation != state.reported
  }

  /// The posts since the last delivery, as one.
  private func takeDelivery(_ state: inout State) -> Delivery? {
    let generation = word.generation
    if generation == state.delivered { return nil }
    // Differences wrap. A smaller number, by half the range, means that counting restarted.
    if Int64(bitPattern: generation &- state.delivered) < 0 {
      state.delivered = 0
      state.isReset = true
    }
    if generation == state.delivered { return nil }
    let coalesced = generation &- state.delivered
    let isKnown = coalesced == 1 && state.hint?.generation == generation
    defer {
      state.delivered = generation
      state.isReset = false
      state.hint = nil
    }
    return Delivery(
      name: name, generation: generation, coalesced: coalesced, state: word.state,
      poster: isKnown ? state.hint?.sender : nil, isReset: state.isReset)
  }

  // MARK: Taking

  func take() throws(NotifyError) -> Delivery? {
    try state.withLock { state throws(NotifyError) in
      try requireActive(state)
      // Lowered first, because a later post raises it again.
      counter?.lower()
      if state.suspensions == 0 { return takeDelivery(&state) }
      // Reported again when the suspension ends.
      state.reported = state.delivered
      return nil
    }
  }

  func next() async -> Delivery? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let answer: Delivery?? = state.withLock { state in
          // Only one task at a time iterates: end the wait of the earlier one.
          state.waiter?.resume(returning: nil)
          state.waiter = nil
          if state.mode == nil || Task.isCancelled { return .some(nil) }
          if state.suspensions == 0, let delivery = takeDelivery(&state) { return delivery }
          state.waiter = Waiter(continuation)
          return nil
        }
        if let answer { continuation.resume(returning: answer) }
      }
    } onCancel: {
      stopWaiting()
    }
  }

  private func stopWaiting() {
    let waiter = state.withLock { state in
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume(returning: nil)
  }

  // MARK: Suspending and cancelling

  var isSuspended: Bool { state.withLock { $0.suspensions > 0 } }

  func suspend() throws(NotifyError) {
    try state.withLock { state throws(NotifyError) in
      try requireActive(state)
      state.suspensions += 1
    }
  }

  func resume() throws(NotifyError) {
    let isLast = try state.withLock { state throws(NotifyError) in
      try requireActive(state)
      state.suspensions = max(0, state.suspensions - 1)
      return state.suspensions == 0
    }
    if isLast { observer?.enqueue { self.offer() } }
  }

  func cancel() {
    let (mode, mustWait) = state.withLock { state in
      defer { state.mode = nil }
      return (state.mode, isRunning.load(ordering: .acquiring))
    }
    // Released outside the lock, because the closure may hold the last reference to this object.
    defer { withExtendedLifetime(mode) {} }
    stopWaiting()
    observer?.remove(self)
    center.forget(self)
    // The closure may be running on the other thread: wait until its captures are unused.
    if mustWait { observer?.waitForClosures() }
  }

  private func requireActive(_ state: borrowing State) throws(NotifyError) {
    if state.mode == nil { throw .cancelled(name) }
  }
}
