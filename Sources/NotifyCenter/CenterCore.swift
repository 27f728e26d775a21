import AppGroup
import Platform
import Synchronization

/// The tables, names and observations that a center has opened.
final class CenterCore: Sendable {
  private let directory: TableDirectory
  private let recheckInterval: Duration
  private let state = Mutex(State())

  private struct State {
    var tables: [TableDirectory.Kind: NameTable] = [:]
    var observers: [ObjectIdentifier: TableObserver] = [:]
    var words: [NotificationName: NameWord] = [:]
    var observations: [ObjectIdentifier: ObservationCore] = [:]
  }

  init(_ group: AppGroup, _ recheckInterval: Duration, _ onStep: OnStep) {
    directory = TableDirectory(group: group, onStep: onStep)
    self.recheckInterval = recheckInterval
  }

  /// - Parameter toWrite: whether to refuse a name that this process may only read.
  func word(for name: NotificationName, toWrite: Bool) throws(NotifyError) -> NameWord {
    let word = try state.withLock { state throws(NotifyError) -> NameWord in
      try self.word(for: name, &state)
    }
    if toWrite, !word.table.isWritable {
      throw .notAuthorized(
        name, why: "this user may observe it, not post it or set its state; ask the group's owner")
    }
    return word
  }

  private func word(
    for name: NotificationName, _ state: inout State
  ) throws(NotifyError) -> NameWord {
    if let word = state.words[name] { return word }
    let word = NameWord(name, in: try table(directory.kind(of: name), &state))
    state.words[name] = word
    return word
  }

  private func table(
    _ kind: TableDirectory.Kind, _ state: inout State
  ) throws(NotifyError) -> NameTable {
    if let table = state.tables[kind] { return table }
    let table = try directory.open(kind)
    state.tables[kind] = table
    return table
  }

  // MARK: Observing

  func observe(
    _ name: NotificationName, by mode: ObservationCore.Mode
  ) throws(NotifyError) -> ObservationCore {
    let word = try word(for: name, toWrite: false)
    if case .check = mode { return remember(ObservationCore(word, mode, nil, of: self)) }
    let observer = try state.withLock { state throws(NotifyError) in
      if let observer = state.observers[ObjectIdentifier(word.table)] { return observer }
      let observer = try TableObserver(word.table, recheckInterval)
      state.observers[ObjectIdentifier(word.table)] = observer
      return observer
    }
    let core = ObservationCore(word, mode, observer, of: self)
    try observer.add(core)
    return remember(core)
  }

  private func remember(_ core: ObservationCore) -> ObservationCore {
    state.withLock { $0.observations[ObjectIdentifier(core)] = core }
    return core
  }

  func forget(_ core: ObservationCore) {
    state.withLock { _ = $0.observations.removeValue(forKey: ObjectIdentifier(core)) }
  }

  func removeEveryObserver() {
    for core in state.withLock({ Array($0.observations.values) }) { core.cancel() }
  }

  // MARK: Listing

  /// Names that this process may not observe are left out.
  func list() throws(NotifyError) -> [NotificationStatus] {
    var all: [NotificationStatus] = []
    for kind in try directory.kinds() {
      do throws(NotifyError) {
        let table = try state.withLock { state throws(NotifyError) -> NameTable in
          try self.table(kind, &state)
        }
        var census = table.bells.census()
        all += table.names().map {
          NotificationStatus($0.name, in: table, observers: census.observers(ofRow: $0.row))
        }
      } catch .notPermitted {
        continue
      }
    }
    return all.sorted { $0.name.text < $1.name.text }
  }
}

extension NotificationStatus {
  fileprivate init(
    _ name: NotificationName, in table: NameTable, observers: [NotificationStatus.Observer]
  ) {
    let word = NameWord(name, in: table)
    let lastPost = word.lastPostNs
    let poster = word.lastPoster
    self.init(
      name: name, generation: word.generation, state: word.state,
      lastPostNs: lastPost == 0 ? nil : lastPost,
      lastPoster: lastPost == 0
        ? nil
        : .init(
          processID: Int32(truncatingIfNeeded: poster),
          userID: UInt32(truncatingIfNeeded: poster >> 32)),
      observers: observers)
  }
}
