import AppGroup
import Platform
import Synchronization

// Settings that the members of a group share, as UserDefaults(suiteName:) has them.
//
// This module refuses to keep secrets (CredentialStore does), large things (the container has room
// for files), and to know what a key means. Format and failures: docs/design/defaults-journal.md.

/// One suite of settings: what one process of the group sets, every other sees at once.
///
/// A getter costs no call of the kernel while nothing changes. It never throws: where the suite
/// cannot be read, it answers with what was last readable, and ``refresh()`` says why. A change is
/// whole or not at all, also if its process is killed; it survives the process when the call
/// returns, and a power cut after ``synchronize()``.
///
/// Any number of threads may use one object at once.
public final class SharedDefaults: Sendable {
  public let group: GroupID
  public let name: SuiteName
  let place: SuitePlace
  let state = Mutex(State())
  /// Held by the thread that changes something: locks on a file do not keep the threads of one
  /// object apart.
  let writing = Mutex(())
  let secrets: SecretKeys
  let observers: ObserverSet
  let onStep: OnDefaultsStep

  struct State {
    var view = SuiteView()
    var registered: [String: DefaultsValue] = [:]
  }

  /// Opens a suite. It need not exist: the first value that is set makes it.
  /// - Parameters:
  ///   - suiteName: nil for the suite that has the group's own name.
  ///   - secretKeys: keys that are refused although they do not look like secrets.
  ///   - plainKeys: keys that are no secrets although they look like some, such as `tokenCount`.
  public convenience init(
    suiteName: String? = nil, in group: AppGroup, secretKeys: Set<String> = [],
    plainKeys: Set<String> = []
  ) throws(DefaultsError) {
    try self.init(
      SuiteName(suiteName ?? group.id.description), in: group,
      SecretKeys(declared: secretKeys, exempt: plainKeys))
  }

  /// - Parameter recheckInterval: how long an observer waits before it looks by itself: long for
  ///   tests, which must not pass because of that.
  package convenience init(
    suiteName: String, in group: AppGroup, recheckInterval: Duration, onStep: OnDefaultsStep
  ) throws(DefaultsError) {
    try self.init(
      SuiteName(suiteName), in: group, .byLooks, recheckInterval: recheckInterval, onStep: onStep)
  }

  init(
    _ name: SuiteName, in group: AppGroup, _ secrets: SecretKeys,
    recheckInterval: Duration = .seconds(1), onStep: OnDefaultsStep = nil
  ) throws(DefaultsError) {
    place = try SuitePlace(name, in: group)
    self.group = group.id
    self.name = name
    self.secrets = secrets
    observers = ObserverSet(recheckInterval: recheckInterval)
    self.onStep = onStep
  }

  /// Where the suite lies, for messages and backups.
  public var path: String { place.path }

  /// Whether there is such a suite, be it one that cannot be read.
  public var exists: Bool { (try? place.status()) != nil }

  /// Reads what others have set, as every getter does, and says why if it cannot.
  /// - Returns: how many changes the suite has seen in all.
  @discardableResult
  public func refresh() throws(DefaultsError) -> UInt64 {
    let (trouble, sequence) = state.withLock { state in
      state.view.look(place)
      return (state.view.trouble, state.view.image.sequence)
    }
    if let trouble { throw trouble }
    return sequence
  }

  // MARK: All suites of a group

  /// The suites of a group, sorted by name.
  public static func list(in group: AppGroup) throws(DefaultsError) -> [SuiteName] {
    let directory = try SuitePlace.directory(of: group)
    return try attempt { () throws(SystemError) in
      try directory.names().compactMap { SuiteName(fileName: $0) }
    }
  }

  /// Gives every suite of a group to those who are members now: a file's permissions are those of
  /// the moment when it was made. To be called after a role was granted, by the group's owner.
  public static func renewAccess(in group: AppGroup) throws(DefaultsError) {
    for name in try list(in: group) {
      try SharedDefaults(name, in: group, .byLooks).rewrite()
    }
  }
}
