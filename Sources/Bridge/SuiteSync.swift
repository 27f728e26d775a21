import AppGroup
import Platform
import SharedDefaults

/// The server's side of a suite, as BridgeNATS carries it out.
package protocol SuiteStore {
  /// When the store was made, in nanoseconds since 1970 by its own clock.
  var identity: UInt64 { get }
  /// The newest version and its revision; nil if there is no version.
  func read(_ suite: String) throws -> (bytes: [UInt8], revision: UInt64)?
  /// Stores a version if the present revision is the expected one.
  /// - Returns: its revision; nil if another machine stored one meanwhile.
  func write(_ bytes: [UInt8], to suite: String, over revision: UInt64) throws -> UInt64?
}

/// One suite of settings that crosses: brings this machine and the server to agreement.
///
/// A change is a step from the version that both last agreed on. Where both sides have changed, the
/// server's change is applied here first, except for keys that this machine changed too; then this
/// machine stores its own over it. So all machines see the same order, and the writer with the
/// later revision wins. Only one thread at a time may use it.
package final class SuiteSync {
  package let name: String
  private let suite: SharedDefaults
  private let memory: SharedDefaults
  private let machine: MachineName
  /// The revision that was refused, so that it is reported once.
  private var refusedRevision: UInt64 = 0
  private var hasReportedSize = false

  /// How often one call starts again because another machine was faster.
  private static let retryLimit = 16
  private static let maximumRevision: UInt64 = 1 << 62

  /// What a call did.
  package enum Event: Sendable, Equatable {
    case received(revision: UInt64, from: String, keys: Int)
    case sent(revision: UInt64, keys: Int)
    case conflict(SuiteConflict, revision: UInt64)
    case refused(String)
  }

  package init(
    _ name: String, in group: AppGroup, as machine: MachineName
  ) throws(DefaultsError) {
    self.name = name
    self.machine = machine
    suite = try SharedDefaults(suiteName: name, in: group)
    memory = try SharedDefaults(suiteName: BridgeState.suitePrefix + name, in: group)
  }

  /// Calls a closure after each change of the suite by a process of this machine.
  package func observe(
    _ handler: @escaping @Sendable () -> Void
  ) throws(DefaultsError) -> DefaultsObservation {
    try suite.observe { _ in handler() }
  }

  /// Brings both sides to agreement.
  package func run(with store: some SuiteStore) throws -> [Event] {
    var events: [Event] = []
    for _ in 0..<Self.retryLimit {
      var agreed = recall()
      let isKnown = agreed.store != 0
      let found = try store.read(name)
      if let found, found.revision < Self.maximumRevision {
        // An older revision of the same store comes from a server that lags behind.
        if agreed.store == store.identity, found.revision < agreed.revision { return events }
        if agreed.store != store.identity || found.revision > agreed.revision {
          guard let version = SuiteVersion(parsing: found.bytes) else {
            refuse(found.revision, "version \(found.revision) is malformed", &events)
            return events
          }
          guard
            try apply(version, found.revision, &agreed, isKnown: isKnown, store, &events)
          else { return events }
        }
      }
      // A store that lost the suite gets all of it again.
      if found == nil { agreed.values = [:] }
      guard let step = step(from: agreed) else { return events }
      guard let bytes = step.bytes else {
        if !hasReportedSize {
          events.append(.refused("it is too large to cross, or names a secret"))
        }
        hasReportedSize = true
        return events
      }
      guard let revision = try store.write(bytes, to: name, over: found?.revision ?? 0) else {
        continue
      }
      agreed.values = step.version.values
      agreed.writers = step.version.writers
      agreed.revision = revision
      agreed.store = store.identity
      try remember(agreed)
      events.append(.sent(revision: revision, keys: step.count))
      return events
    }
    return events
  }

  /// Applies the server's version here in one change, except for keys that this machine changed.
  /// - Returns: false if the suite refuses it.
  private func apply(
    _ version: SuiteVersion, _ revision: UInt64, _ agreed: inout AgreedSuite, isKnown: Bool,
    _ store: some SuiteStore, _ events: inout [Event]
  ) throws -> Bool {
    // A machine that joins keeps only keys that the group lacks.
    let base =
      isKnown
      ? agreed.values : suite.storedValues().filter { version.values[$0.key] != nil }
    let changes = version.values.changes(since: base)
    var conflicts: [SuiteConflict] = []
    var applied = 0
    do throws(DefaultsError) {
      try suite.update { draft in
        conflicts = []
        applied = 0
        for (key, value) in changes {
          let own = draft[key]?.encoding
          if own == base[key]?.encoding {
            draft[key] = value
            applied += 1
          } else if own != value?.encoding {
            let loser = version.writers[key] ?? version.writer.text
            conflicts.append(SuiteConflict(key: key, loser: loser))
          }
        }
      }
    } catch {
      refuse(revision, "version \(revision) of \(version.writer): \(error)", &events)
      return false
    }
    agreed.values = version.values
    agreed.writers = version.writers
    agreed.revision = revision
    agreed.store = store.identity
    // After the suite: a bridge that is killed in between applies the same version again.
    try remember(agreed)
    if applied > 0 {
      events.append(.received(revision: revision, from: version.writer.text, keys: applied))
    }
    events += conflicts.sorted { $0.key < $1.key }.map { .conflict($0, revision: revision) }
    return true
  }

  private func refuse(_ revision: UInt64, _ why: String, _ events: inout [Event]) {
    if refusedRevision != revision { events.append(.refused(why)) }
    refusedRevision = revision
  }

  private struct Step {
    let version: SuiteVersion
    /// Nil if it may not cross.
    let bytes: [UInt8]?
    let count: Int
  }

  /// This machine's own changes since the agreement; nil for none.
  private func step(from agreed: AgreedSuite) -> Step? {
    let values = suite.storedValues()
    let changes = values.changes(since: agreed.values)
    if changes.isEmpty { return nil }
    var writers = agreed.writers.filter { values[$0.key] != nil }
    for key in changes.keys where values[key] != nil { writers[key] = machine.text }
    let version = SuiteVersion(values: values, writers: writers, writer: machine)
    let namesSecret = values.contains { $0.value.secretKey(named: $0.key) != nil }
    return Step(
      version: version, bytes: namesSecret ? nil : version.bytes, count: changes.count)
  }

  // MARK: The agreement, kept across restarts

  private func recall() -> AgreedSuite {
    var agreed = AgreedSuite()
    guard case .data(let bytes) = memory.value(forKey: "agreed"),
      let version = SuiteVersion(parsing: bytes),
      case .integer(let revision) = memory.value(forKey: "revision"),
      case .integer(let store) = memory.value(forKey: "store")
    else { return agreed }
    agreed.values = version.values
    agreed.writers = version.writers
    agreed.revision = UInt64(bitPattern: Int64(revision))
    agreed.store = UInt64(bitPattern: Int64(store))
    return agreed
  }

  private func remember(_ agreed: AgreedSuite) throws {
    let version = SuiteVersion(values: agreed.values, writers: agreed.writers, writer: machine)
    let bytes = version.bytes ?? []
    try memory.update { draft in
      draft["agreed"] = .data(bytes)
      draft["revision"] = .integer(Int(bitPattern: UInt(agreed.revision)))
      draft["store"] = .integer(Int(bitPattern: UInt(agreed.store)))
    }
  }
}
