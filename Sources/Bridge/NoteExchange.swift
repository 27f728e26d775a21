import AppGroup
import NotifyCenter
import Platform
import Synchronization

/// Turns posts of this machine into notes for others, and notes of others into posts here.
///
/// A post made here for another machine's note is counted, and so never sent on: a post crosses
/// each link once. Of posts that come faster than the server acknowledges notes, the newest state
/// crosses.
package final class NoteExchange: Sendable {
  /// Sends a note.
  /// - Returns: false if there is no connection; the note is then sent after the next one is made.
  package typealias Send = @Sendable (Note) -> Bool

  private let center: NotifyCenter
  private let machine: MachineName
  private let machineID: UInt64
  private let send: Send
  private let state: Mutex<State>

  private struct State: ~Copyable {
    let ledger: NoteLedger
    var names: [String: Name] = [:]
    /// The names of the notes in flight, by position.
    var inFlight: [UInt64: String] = [:]
    var position: UInt64
    var figures = NoteFigures()
  }

  /// A name that crosses.
  private struct Name {
    let name: NotificationName
    /// First word: posts made here for others; second: local posts that the server has
    /// acknowledged; third: the stamp of the present state.
    let place: NoteLedger.Place
    /// First word: the state that has this stamp; second: the machine that set it, which decides
    /// between equal stamps; third: the position of this machine's newest note.
    let stamped: NoteLedger.Place
    /// Nil if this role may not post the name: checked each time that the manifest is read, not at
    /// each delivery.
    var poster: Poster?
    var observation: Observation?
    /// The local posts up to the note in flight; nil if no note is in flight.
    var inFlight: UInt64?
    var sentAtNs: UInt64 = 0
    var newest: Note?
  }

  /// - Parameters:
  ///   - directory: of the bridge, in the run directory.
  ///   - start: counts the starts of this machine's bridge.
  package init(
    _ center: NotifyCenter, in directory: borrowing Directory, as machine: MachineName,
    machineID: UInt64, start: UInt64, send: @escaping Send
  ) throws(SystemError) {
    self.center = center
    self.machine = machine
    self.machineID = machineID
    self.send = send
    state = Mutex(
      State(ledger: try NoteLedger(in: directory), position: (start & 0xff_ffff) << 40))
  }

  package var figures: NoteFigures { state.withLock { $0.figures } }

  // MARK: Names

  /// Observes the names that the manifest lets cross, and no others any more.
  /// - Returns: why names cannot be observed.
  package func follow(_ texts: Set<String>) -> [String] {
    let known = state.withLock { Set($0.names.keys) }
    for text in known.subtracting(texts) {
      let removed = state.withLock { state in
        state.inFlight = state.inFlight.filter { $0.value != text }
        return state.names.removeValue(forKey: text)
      }
      removed?.observation?.cancel()
    }
    state.withLock { state in
      for (text, name) in state.names {
        state.names[text]?.poster = try? center.poster(of: name.name)
      }
    }
    var refusals: [String] = []
    for text in texts.subtracting(known).sorted() {
      do throws(NotifyError) { try begin(text) } catch {
        refusals.append("the notification \(text) does not cross: \(error)")
      }
    }
    return refusals
  }

  private func begin(_ text: String) throws(NotifyError) {
    let name = try NotificationName(text)
    let generation = try center.generation(of: name)
    state.withLock { state in
      let key = NoteLedger.key(of: text)
      let place = state.ledger.place(of: key)
      let stamped = state.ledger.place(of: NoteLedger.stateKey(of: text))
      let isFirst = state.ledger.get(.third, at: place) == 0
      if isFirst {
        // Posts from before the first bridge do not cross; a state from before does.
        state.ledger.set(generation, .first, at: place)
        state.ledger.set(1, .third, at: place)
      }
      state.names[text] = Name(
        name: name, place: place, stamped: stamped, poster: try? center.poster(of: name),
        newest: newestNote(text, place, stamped, state))
    }
    let observation = try center.observe(name) { [weak self] _ in self?.poll(text) }
    state.withLock { $0.names[text]?.observation = observation }
    poll(text)
  }

  /// The note with which this machine set the present state, before its bridge was restarted: for a
  /// server that loses its memory later. Receivers that had it know it by its position.
  private func newestNote(
    _ text: String, _ place: NoteLedger.Place, _ stamped: NoteLedger.Place,
    _ state: borrowing State
  ) -> Note? {
    let position = state.ledger.get(.third, at: stamped)
    guard position > 0, state.ledger.get(.second, at: stamped) == machineID else { return nil }
    return Note(
      machine: machine, machineID: machineID, position: position,
      stamp: state.ledger.get(.third, at: place), state: state.ledger.get(.first, at: stamped),
      name: text)
  }

  // MARK: From here to others

  /// Sends the posts of a name that are not sent yet, unless a note of it is in flight.
  private func poll(_ text: String) {
    let note = state.withLock { state -> Note? in
      guard var name = state.names[text], name.inFlight == nil,
        let generation = try? center.generation(of: name.name)
      else { return nil }
      let ledger = counts(generation, name, &state)
      guard ledger.local > ledger.acknowledged else { return nil }
      state.position += 1
      state.inFlight[state.position] = text
      name.inFlight = ledger.local
      name.sentAtNs = monotonicNowNs()
      let value = (try? center.state(of: name.name)) ?? 0
      let note = Note(
        machine: machine, machineID: machineID, position: state.position,
        stamp: stamp(for: value, ledger.stamp, name, state), state: value, name: text)
      name.newest = note
      state.ledger.set(state.position, .third, at: name.stamped)
      state.names[text] = name
      state.figures.sent += 1
      state.figures.merged += ledger.local - ledger.acknowledged - 1
      return note
    }
    if let note { _ = send(note) }
  }

  /// The stamp of a note: a new one for a new state. A post alone says nothing about a state that
  /// another machine set, and so cannot take the place of that machine's next one: 0.
  private func stamp(
    for value: UInt64, _ present: UInt64, _ name: Name, _ state: borrowing State
  ) -> UInt64 {
    let setter = state.ledger.get(.second, at: name.stamped)
    if value == state.ledger.get(.first, at: name.stamped), setter != 0 {
      return setter == machineID ? present : 0
    }
    let stamp = min(present + 1, Note.maximumStamp - 1)
    note(value, stamp, of: machineID, name, state)
    return stamp
  }

  private func note(
    _ value: UInt64, _ stamp: UInt64, of setter: UInt64, _ name: Name, _ state: borrowing State
  ) {
    // The stamp last: a bridge killed before that claims no more than it did.
    state.ledger.set(value, .first, at: name.stamped)
    state.ledger.set(setter, .second, at: name.stamped)
    state.ledger.set(stamp, .third, at: name.place)
  }

  private struct Counts {
    var local: UInt64
    var acknowledged: UInt64
    var stamp: UInt64
  }

  /// The posts of local processes, and how many of them the server has acknowledged. Both begin
  /// anew if the counting of posts did.
  private func counts(_ generation: UInt64, _ name: Name, _ state: inout State) -> Counts {
    var own = state.ledger.get(.first, at: name.place)
    var acknowledged = state.ledger.get(.second, at: name.place)
    if generation < own || generation - own < acknowledged {
      own = 0
      acknowledged = 0
      state.ledger.set(0, .second, at: name.place)
      state.ledger.set(0, .first, at: name.place)
    }
    return Counts(
      local: generation - own, acknowledged: acknowledged,
      stamp: state.ledger.get(.third, at: name.place))
  }

  /// The server has stored the note of a position.
  package func acknowledge(_ position: UInt64) {
    let text = state.withLock { state -> String? in
      guard let text = state.inFlight.removeValue(forKey: position),
        let name = state.names[text], let local = name.inFlight
      else { return nil }
      state.ledger.set(local, .second, at: name.place)
      state.names[text]?.inFlight = nil
      return text
    }
    // Posts that came meanwhile.
    if let text { poll(text) }
  }

  /// Sends notes again that the server has not acknowledged for a time: each with the posts that
  /// came since then, or else unchanged, so that a receiver that has it knows it by its position.
  /// - Parameter all: also the newest note of each name, for a server that has lost them. Until the
  ///   server acknowledges these, they are sent again like any other.
  package func resend(unacknowledgedFor limitNs: UInt64, all: Bool = false) {
    let now = monotonicNowNs()
    var late: [String] = []
    let notes = state.withLock { state in
      var notes: [Note] = []
      for (text, name) in state.names {
        let isLate = name.inFlight != nil && now &- name.sentAtNs >= limitNs
        if isLate, let generation = try? center.generation(of: name.name),
          counts(generation, name, &state).local != name.inFlight
        {
          state.names[text]?.inFlight = nil
          state.inFlight = state.inFlight.filter { $0.value != text }
          late.append(text)
        } else if isLate || all, let note = name.newest {
          if name.inFlight == nil {
            state.inFlight[note.position] = text
            state.names[text]?.inFlight = state.ledger.get(.second, at: name.place)
          }
          state.names[text]?.sentAtNs = now
          notes.append(note)
        }
      }
      return notes
    }
    for note in notes where send(note) { state.withLock { $0.figures.resent += 1 } }
    for text in late { poll(text) }
  }

  // MARK: From others to here

  /// Delivers notes: posts each name once that has news, with the newest state.
  package func receive(_ notes: [Note]) {
    state.withLock { state in
      if notes.count == 1 {
        if accept(notes[0], &state) { post(notes[0].name, &state) }
        return record(notes[0], &state)
      }
      var posts: [String] = []
      for note in notes where accept(note, &state) && !posts.contains(note.name) {
        posts.append(note.name)
      }
      for text in posts { post(text, &state) }
      for note in notes { record(note, &state) }
    }
  }

  /// After the post: a bridge that is killed in between posts again, and loses nothing.
  private func record(_ note: Note, _ state: inout State) {
    guard note.machineID != machineID, state.names[note.name] != nil else { return }
    let place = state.ledger.place(of: NoteLedger.key(of: note.name, from: note.machineID))
    if state.ledger.get(.first, at: place) < note.position {
      state.ledger.set(note.position, .first, at: place)
    }
  }

  /// Whether a note is new. Sets its state if that is the newest.
  private func accept(_ note: Note, _ state: inout State) -> Bool {
    guard let name = state.names[note.name] else {
      state.figures.refused += 1
      return false
    }
    // This machine's own, as the server returns them.
    if note.machineID == machineID { return false }
    let place = state.ledger.place(of: NoteLedger.key(of: note.name, from: note.machineID))
    guard note.position > state.ledger.get(.first, at: place) else {
      state.figures.repeated += 1
      return false
    }
    let stamp = state.ledger.get(.third, at: name.place)
    let setter = state.ledger.get(.second, at: name.stamped)
    if (note.stamp, note.machineID) > (stamp, setter) {
      do throws(NotifyError) { try center.setState(note.state, of: name.name) } catch {
        state.figures.refused += 1
        return false
      }
      self.note(note.state, note.stamp, of: note.machineID, name, state)
    }
    return true
  }

  private func post(_ text: String, _ state: inout State) {
    guard let name = state.names[text] else { return }
    guard let poster = name.poster else {
      state.figures.refused += 1
      return
    }
    do throws(NotifyError) {
      try poster.postExceptOwn()
      let own = state.ledger.get(.first, at: name.place)
      state.ledger.set(own + 1, .first, at: name.place)
      state.figures.delivered += 1
    } catch {
      state.figures.refused += 1
    }
  }
}

/// Counts of notifications since the bridge's start.
package struct NoteFigures: Hashable, Sendable {
  /// Notes sent, and posts that crossed within a later one.
  package var sent: UInt64 = 0
  package var merged: UInt64 = 0
  package var resent: UInt64 = 0
  /// Posts made for notes of others; notes that were delivered before; notes refused, because the
  /// manifest or the group does not let their name cross, or because they are malformed.
  package var delivered: UInt64 = 0
  package var repeated: UInt64 = 0
  package var refused: UInt64 = 0

  package init() {}
}
