import Platform
import Synchronization

/// One observation: what its owner was told so far, and how to tell it more.
final class ObservationCore: Sendable {
  /// How an observer is told.
  enum Way: Sendable {
    case closure(@Sendable (Delivery) -> Void)
    case sequence
    case descriptor(EventCounter)
    case signal(Int32)
    case check
  }

  let name: NotificationName
  let word: NameWord
  let counter: EventCounter?
  /// The generation from which on posts are delivered.
  let begun: UInt64
  private let center: CenterCore
  private let observer: TableObserver?
  /// The generation at the last check; none yet if it is this one.
  private let checked = Atomic<UInt64>(.max)
  private let state: Mutex<State>
  /// Whether its closure runs. Set under the lock; taken back when what the closure uses may go.
  private let isRunning = Atomic<Bool>(false)

  private struct State {
    /// Nil once it is cancelled, so that nothing a closure holds is kept.
    var way: Way?
    var delivered: UInt64
    /// The generation that a signal or a descriptor last told of.
    var told: UInt64
    var suspensions = 0
    var isReset = false
    var waiter: CheckedContinuation<Delivery?, Never>?
    /// Who said to have posted which generation last.
    var hint: Seat.Hint?
  }

  /// - Parameter observer: nil for who only checks.
  init(_ word: NameWord, _ way: Way, _ observer: TableObserver?, of center: CenterCore) {
    name = word.name
    self.word = word
    self.center = center
    self.observer = observer
    begun = word.generation
    state = Mutex(State(way: way, delivered: begun, told: begun))
    if case .descriptor(let counter) = way { self.counter = counter } else { counter = nil }
  }

  func check() -> Bool {
    let generation = word.generation
    // Relaxed: the exchange decides; this spares it where nothing was posted.
    if checked.load(ordering: .relaxed) == generation { return false }
    return checked.exchange(generation, ordering: .acquiringAndReleasing) != generation
  }

  // MARK: Telling

  /// Called on the thread of the closures, after a post. It is on the way of each delivery in each
  /// process, which has been asleep: what it touches is cold, so it makes no collections.
  /// - Parameters:
  ///   - hints: what datagrams said, of all rows.
  ///   - row: the one of this name.
  func offer(_ hints: Seat.Hints = Seat.Hints(), ofRow row: Int = 0) {
    let call = state.withLock { state in
      note(hints, ofRow: row, &state)
      return tell(&state)
    }
    guard let call else { return }
    call.handler(call.delivery)
    isRunning.store(false, ordering: .releasing)
  }

  private struct Call {
    let handler: @Sendable (Delivery) -> Void
    let delivery: Delivery
  }

  private func tell(_ state: inout State) -> Call? {
    guard let way = state.way, state.suspensions == 0 else { return nil }
    switch way {
    case .closure(let handler):
      guard let delivery = takeDelivery(&state) else { return nil }
      // Relaxed: `cancel` reads it under the same lock.
      isRunning.store(true, ordering: .relaxed)
      return Call(handler: handler, delivery: delivery)
    case .sequence:
      guard let waiter = state.waiter, let delivery = takeDelivery(&state) else { return nil }
      state.waiter = nil
      waiter.resume(returning: delivery)
    case .descriptor(let counter):
      if isNews(&state) { counter.raise() }
    case .signal(let number):
      if isNews(&state) { Signal.sendToSelf(number) }
    case .check: break
    }
    return nil
  }

  private func isNews(_ state: inout State) -> Bool {
    let generation = word.generation
    defer { state.told = generation }
    return generation != state.told
  }

  private func note(_ hints: Seat.Hints, ofRow row: Int, _ state: inout State) {
    var newest: Seat.Hint?
    var isDisputed = false
    hints.forEach(ofRow: row) { hint in
      if let known = newest, hint.generation <= known.generation {
        // Two who say that they made the same post: then nobody knows.
        if hint.generation == known.generation, hint.sender != known.sender { isDisputed = true }
      } else {
        newest = hint
        isDisputed = false
      }
    }
    if let newest { state.hint = isDisputed ? nil : newest }
  }

  /// What was posted since the last delivery, as one.
  private func takeDelivery(_ state: inout State) -> Delivery? {
    let generation = word.generation
    if generation == state.delivered { return nil }
    // Differences wrap, and half of all is enough: a smaller number is a table that began anew.
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

  // MARK: Being asked

  func take() throws(NotifyError) -> Delivery? {
    try state.withLock { state throws(NotifyError) in
      try requireGoingOn(state)
      // Lowered first: a post from here on raises it again.
      counter?.lower()
      if state.suspensions == 0 { return takeDelivery(&state) }
      // What is not taken now is told again at the end of the suspension.
      state.told = state.delivered
      return nil
    }
  }

  func next() async -> Delivery? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let answer: Delivery?? = state.withLock { state in
          // One task at a time iterates: who waited before is told that it is over.
          state.waiter?.resume(returning: nil)
          state.waiter = nil
          if state.way == nil || Task.isCancelled { return .some(nil) }
          if state.suspensions == 0, let delivery = takeDelivery(&state) { return delivery }
          state.waiter = continuation
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
      try requireGoingOn(state)
      state.suspensions += 1
    }
  }

  func resume() throws(NotifyError) {
    let isLast = try state.withLock { state throws(NotifyError) in
      try requireGoingOn(state)
      state.suspensions = max(0, state.suspensions - 1)
      return state.suspensions == 0
    }
    if isLast { observer?.enqueue { self.offer() } }
  }

  func cancel() {
    let (way, mustWait) = state.withLock { state in
      defer { state.way = nil }
      return (state.way, isRunning.load(ordering: .acquiring))
    }
    // Goes without the lock: what its closure holds may be the last that kept this observation.
    defer { withExtendedLifetime(way) {} }
    stopWaiting()
    observer?.remove(self)
    center.forget(self)
    // Its closure may be running on the other thread: what it uses may go after this.
    if mustWait { observer?.waitForClosures() }
  }

  private func requireGoingOn(_ state: borrowing State) throws(NotifyError) {
    if state.way == nil { throw .cancelled(name) }
  }
}
