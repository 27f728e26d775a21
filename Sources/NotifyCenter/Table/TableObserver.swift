import CNotifyLayout
import Platform
import Synchronization

/// All that one center observes in one table: the observer's side of the hand-shake.
final class TableObserver: Sendable {
  private let table: NameTable
  private let loop: EventLoop
  private let state = Mutex(State())
  private let isLookDue = Atomic<Bool>(false)

  private struct State {
    var hearing: Hearing?
    var names: [Observed] = []
    var positions: [NotificationName: Int] = [:]
    var isRechecking = false
  }

  /// A seat, and where the event loop listens to it.
  private struct Hearing {
    let seat: Seat
    let token: EventLoop.Token
  }

  private struct Observed {
    let word: NameWord
    /// 0 while the name has no row: then it is row 0 that is observed.
    var row: Int
    /// The generation at the last look.
    var seen: UInt64
    var observations: [ObservationCore]
  }

  /// How long a doorbell that nobody rang can be waited for.
  private let recheckInterval: Duration

  init(_ table: NameTable, _ recheckInterval: Duration) throws(NotifyError) {
    self.table = table
    self.recheckInterval = recheckInterval
    loop = try notifyLoop()
    (table.bells as? ProcessBells)?.add(self)
  }

  deinit {
    (table.bells as? ProcessBells)?.remove(ObjectIdentifier(self))
    guard let hearing = state.withLock({ $0.hearing }) else { return }
    loop.remove(hearing.token, hearing.seat.descriptor)
  }

  // MARK: Who observes what

  func add(_ core: ObservationCore) throws(NotifyError) {
    try state.withLock { state throws(NotifyError) in
      if state.hearing == nil { state.hearing = try takeSeat(for: core.name) }
      if let position = state.positions[core.name] {
        state.names[position].observations.append(core)
      } else {
        let row = try table.isWritable ? core.word.rowToWrite() : core.word.row ?? 0
        state.positions[core.name] = state.names.count
        state.names.append(
          Observed(word: core.word, row: row, seen: core.begun, observations: [core]))
        mark(row, isFirst: true, state)
        // Added just now: perhaps before row 0 was marked, so nobody will ring for it there.
        if row == 0 { follow(state.names.count - 1, &state) }
      }
      if !state.isRechecking { recheckLater() }
      state.isRechecking = true
    }
    // Posted since it began: perhaps before the mark, so nobody rang.
    if core.word.generation != core.begun { loop.enqueue { core.offer() } }
  }

  func remove(_ core: ObservationCore) {
    state.withLock { state in
      guard let position = state.positions[core.name] else { return }
      state.names[position].observations.removeAll { $0 === core }
      guard state.names[position].observations.isEmpty else { return }
      let row = state.names[position].row
      if row != 0 { state.hearing?.seat.unmark(row) }
      state.positions[core.name] = nil
      state.names.swapAt(position, state.names.count - 1)
      state.names.removeLast()
      if position < state.names.count {
        state.positions[state.names[position].word.name] = position
      }
    }
  }

  /// - Returns: nil in the table of this process, whose bells need none.
  private func takeSeat(for name: NotificationName) throws(NotifyError) -> Hearing? {
    guard let bells = table.bells as? Doorbells else { return nil }
    let seat = try attempt { () throws(SystemError) in
      try Seat.take(in: bells.directory, bells.epoch, table.onStep)
    }
    guard let seat else { throw .tooManyObservers(name, maximum: Seat.maximumCount) }
    let token = try attempt { () throws(SystemError) in
      // The seat leaves when the loop has let go of it.
      try loop.add(seat.descriptor, .readable) { [weak self] _ in self?.look(seat.silence()) }
    }
    return Hearing(seat: seat, token: token)
  }

  /// Runs a job on the thread of the closures.
  func enqueue(_ job: @escaping @Sendable () -> Void) { loop.enqueue(job) }

  /// Returns when no closure is running that was before, unless this is called from one.
  func waitForClosures() { loop.performAndWait {} }

  // MARK: Looking

  func lookSoon() {
    if isLookDue.exchange(true, ordering: .sequentiallyConsistent) { return }
    loop.enqueue { [weak self] in
      guard let self else { return }
      // First: who posts from here on asks for another look.
      isLookDue.store(false, ordering: .sequentiallyConsistent)
      look(Seat.Hints())
    }
  }

  /// A name that was posted, and who observes it.
  private struct Due {
    let row: Int
    let observations: [ObservationCore]
  }

  /// Offers what was posted since the last look to those who observe it. After a ring: the bell is
  /// silenced, the seat armed, and then this looks. Then the thread may sleep.
  private func look(_ hints: Seat.Hints) {
    // Seldom more than one, for which nothing is allocated: as in `Seat.Hints`.
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
    if let first { offer(first, hints) }
    for due in others { offer(due, hints) }
  }

  private func offer(_ due: Due, _ hints: Seat.Hints) {
    for observation in due.observations { observation.offer(hints, ofRow: due.row) }
  }

  /// Marks the row of a name that it did not have at the last look, because the name is new or the
  /// table was truncated.
  private func follow(_ position: Int, _ state: inout State) {
    let (word, row) = (state.names[position].word, state.names[position].row)
    if row != 0, table.hash(ofRow: row) == word.name.hash { return }
    _ = table.addedCount
    guard let now = table.isWritable ? try? word.rowToWrite() : word.row, now != row else { return }
    state.names[position].row = now
    mark(now, isFirst: false, state)
  }

  private func mark(_ row: Int, isFirst: Bool, _ state: borrowing State) {
    guard let seat = state.hearing?.seat else { return }
    if isFirst && row != 0 { seat.mark(row) } else { seat.markForGood(row) }
  }

  // MARK: Looking without a bell

  /// Nobody rings when a poster died between counting and ringing, and when members spoilt the
  /// files.
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
    renewSeat()
    look(Seat.Hints())
    recheckLater()
  }

  /// Takes another seat if this one was spoilt.
  private func renewSeat() {
    let old = state.withLock { state -> Hearing? in
      guard let old = state.hearing, !old.seat.isWhole, let name = state.names.first?.word.name,
        let new = try? takeSeat(for: name)
      else { return nil }
      state.hearing = new
      for observed in state.names { new.seat.markForGood(observed.row) }
      return old
    }
    if let old { loop.remove(old.token, old.seat.descriptor) }
  }
}

/// The thread on which all observers of this process look, and closures run.
private func notifyLoop() throws(NotifyError) -> EventLoop {
  try sharedLoop.withLock { shared throws(NotifyError) in
    if let shared { return shared }
    let loop = try attempt { () throws(SystemError) in try EventLoop(named: "framebus-notify") }
    shared = loop
    return loop
  }
}

private let sharedLoop = Mutex<EventLoop?>(nil)
