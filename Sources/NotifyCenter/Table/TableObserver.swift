import CNotifyLayout
import Platform
import Synchronization

/// All that one center observes in one table: the observer's side of the hand-shake.
final class TableObserver: Sendable {
  private let table: NameTable
  private let loop: EventLoop
  private let state = Mutex(State())
  private let isCheckDue = Atomic<Bool>(false)

  private struct State {
    var listener: Listener?
    var names: [Observed] = []
    var positions: [NotificationName: Int] = [:]
    var isRechecking = false
  }

  /// A registration, and its entry in the event loop.
  private struct Listener {
    let registration: Registration
    let token: EventLoop.Token
  }

  private struct Observed {
    let word: NameWord
    /// 0 while the name has no row: row 0 is observed instead.
    var row: Int
    /// The generation at the last check.
    var seen: UInt64
    var observations: [ObservationCore]
  }

  /// Maximum delay of a post whose doorbell was not rung.
  private let recheckInterval: Duration

  init(_ table: NameTable, _ recheckInterval: Duration) throws(NotifyError) {
    self.table = table
    self.recheckInterval = recheckInterval
    loop = try notifyLoop()
    (table.bells as? ProcessBells)?.add(self)
  }

  deinit {
    (table.bells as? ProcessBells)?.remove(ObjectIdentifier(self))
    guard let listener = state.withLock({ $0.listener }) else { return }
    loop.remove(listener.token, listener.registration.descriptor)
  }

  // MARK: Adding and removing

  func add(_ core: ObservationCore) throws(NotifyError) {
    try state.withLock { state throws(NotifyError) in
      if state.listener == nil { state.listener = try register(for: core.name) }
      if let position = state.positions[core.name] {
        state.names[position].observations.append(core)
      } else {
        let row = try table.isWritable ? core.word.rowToWrite() : core.word.row ?? 0
        state.positions[core.name] = state.names.count
        state.names.append(
          Observed(word: core.word, row: row, seen: core.begun, observations: [core]))
        mark(row, isFirst: true, state)
        // The row may have been added before row 0 was marked, without a ring for it.
        if row == 0 { follow(state.names.count - 1, &state) }
      }
      if !state.isRechecking { recheckLater() }
      state.isRechecking = true
    }
    // A post may have come between the start and the mark, without a ring.
    if core.word.generation != core.begun { loop.enqueue { core.offer() } }
  }

  func remove(_ core: ObservationCore) {
    state.withLock { state in
      guard let position = state.positions[core.name] else { return }
      state.names[position].observations.removeAll { $0 === core }
      guard state.names[position].observations.isEmpty else { return }
      let row = state.names[position].row
      if row != 0 { state.listener?.registration.unmark(row) }
      state.positions[core.name] = nil
      state.names.swapAt(position, state.names.count - 1)
      state.names.removeLast()
      if position < state.names.count {
        state.positions[state.names[position].word.name] = position
      }
    }
  }

  /// - Returns: nil in this process's own table, which needs no registration.
  private func register(for name: NotificationName) throws(NotifyError) -> Listener? {
    guard let bells = table.bells as? Doorbells else { return nil }
    let registration = try NotifyError.attempt(
      Registration.take(in: bells.directory, bells.epoch, table.onStep))
    guard let registration else {
      throw .tooManyObservers(name, maximum: Registration.maximumCount)
    }
    let token = try NotifyError.attempt { () throws(SystemError) in
      // The registration ends when the loop has released it.
      try loop.add(registration.descriptor, .readable) { [weak self] _ in
        registration.drainAndArm()
        self?.checkForPosts(rungBy: registration)
      }
    }
    return Listener(registration: registration, token: token)
  }

  /// Runs a job on the thread of the closures.
  func enqueue(_ job: @escaping @Sendable () -> Void) { loop.enqueue(job) }

  /// Waits until closures that are running have returned, unless this is called from one.
  func waitForClosures() { loop.performAndWait {} }

  // MARK: Checking for posts

  func checkSoon() {
    if isCheckDue.exchange(true, ordering: .sequentiallyConsistent) { return }
    loop.enqueue { [weak self] in
      guard let self else { return }
      // Cleared first, because a later post must queue another check.
      isCheckDue.store(false, ordering: .sequentiallyConsistent)
      checkForPosts()
    }
  }

  /// A name that was posted, and its observations.
  private struct Due {
    let row: Int
    let observations: [ObservationCore]
  }

  /// Offers posts since the last check to their observations. After a ring, the registration was
  /// drained and armed before this; then the thread may sleep.
  private func checkForPosts(rungBy registration: Registration? = nil) {
    // Seldom more than one, which takes no allocation: a woken process has cold caches.
    let (first, others) = state.withLock { state -> (Due?, [Due]) in
      var first: Due?
      var others: [Due] = []
      for position in state.names.indices {
        follow(position, &state)
        let generation = state.names[position].word.generation
        guard generation != state.names[position].seen else { continue }
        state.names[position].seen = generation
        let due = Due(
          row: state.names[position].row, observations: state.names[position].observations)
        if first == nil { first = due } else { others.append(due) }
      }
      return (first, others)
    }
    if let first { offer(first, registration) }
    for due in others { offer(due, registration) }
  }

  private func offer(_ due: Due, _ registration: Registration?) {
    let hint = registration?.hint(ofRow: due.row)
    for observation in due.observations { observation.offer(hint) }
  }

  /// Marks the row of a name whose row has changed since the last check, because the name is new or
  /// the table was truncated.
  private func follow(_ position: Int, _ state: inout State) {
    let (word, row) = (state.names[position].word, state.names[position].row)
    if row != 0, table.hash(ofRow: row) == word.name.hash { return }
    _ = table.addedCount
    guard let now = table.isWritable ? try? word.rowToWrite() : word.row, now != row else { return }
    state.names[position].row = now
    mark(now, isFirst: false, state)
  }

  private func mark(_ row: Int, isFirst: Bool, _ state: borrowing State) {
    guard let registration = state.listener?.registration else { return }
    if isFirst && row != 0 { registration.mark(row) } else { registration.markPermanently(row) }
  }

  // MARK: Polling without a doorbell

  /// Polls, because no doorbell rings if a poster died between counting and ringing, or if members
  /// damaged the files.
  private func recheckLater() {
    loop.schedule(at: .after(recheckInterval)) { [weak self] in self?.recheck() }
  }

  private func recheck() {
    let isIdle = state.withLock { state in
      state.isRechecking = !state.names.isEmpty
      return !state.isRechecking
    }
    if isIdle { return }
    if table.memory.isLost { try? table.makeWhole() }
    renewRegistration()
    checkForPosts()
    recheckLater()
  }

  /// Takes another registration if this one was damaged.
  private func renewRegistration() {
    let old = state.withLock { state -> Listener? in
      guard let old = state.listener, !old.registration.isWhole,
        let name = state.names.first?.word.name,
        let new = try? register(for: name)
      else { return nil }
      state.listener = new
      for observed in state.names { new.registration.markPermanently(observed.row) }
      return old
    }
    if let old { loop.remove(old.token, old.registration.descriptor) }
  }
}

/// The thread that checks for posts and runs closures, for all observers of this process.
private func notifyLoop() throws(NotifyError) -> EventLoop {
  try sharedLoop.withLock { shared throws(NotifyError) in
    if let shared { return shared }
    let loop = try NotifyError.attempt(EventLoop(named: "framebus-notify"))
    shared = loop
    return loop
  }
}

private let sharedLoop = Mutex<EventLoop?>(nil)
