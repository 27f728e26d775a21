import AppGroup
import Platform
import Synchronization

// Settings that the members of a group share, like UserDefaults(suiteName:).
//
// This module refuses to store secrets (CredentialStore does) and large data (use files in the
// container), and to interpret keys. Format and failures: docs/design/defaults-journal.md.

/// One suite of settings. A change by one process of the group is visible to all others at once.
///
/// A getter makes no system call while nothing changes. It never throws: if the suite cannot be
/// read, it returns the last values that were read, and ``refresh()`` throws the reason. A change
/// is atomic, even if its process is killed. It survives the process when the call returns, and a
/// power cut after ``synchronize()``.
///
/// Any number of threads may use one object concurrently.
public final class SharedDefaults: Sendable {
  /// The group.
  public let group: GroupID
  /// The name of the suite.
  public let name: SuiteName
  let location: SuiteLocation
  let state = Mutex(State())
  /// Held by the thread that changes the suite, because a file lock does not exclude other threads
  /// that use the same open file.
  let writing = Mutex(())
  let secrets: SecretKeys
  let observers: ObserverSet
  let onStep: OnDefaultsStep

  struct State {
    var view = SuiteView()
    var registered: [String: DefaultsValue] = [:]
    /// Some keys that were found to name no secret, which takes longer than the rest of a change.
    var plainKeys: Set<String> = []
  }

  /// Opens a suite. It need not exist; setting the first value creates it.
  /// - Parameters:
  ///   - suiteName: nil for the suite that has the group's own name.
  ///   - secretKeys: keys to refuse although they do not look like secrets.
  ///   - plainKeys: keys to accept although they look like secrets, such as `tokenCount`.
  public convenience init(
    suiteName: String? = nil, in group: AppGroup, secretKeys: Set<String> = [],
    plainKeys: Set<String> = []
  ) throws(DefaultsError) {
    try self.init(
      SuiteName(suiteName ?? group.id.description), in: group,
      SecretKeys(declared: secretKeys, exempt: plainKeys))
  }

  /// - Parameter recheckInterval: the interval at which an observer polls. Tests use a long one, so
  ///   that they fail if a notification is missing.
  package convenience init(
    suiteName: String, in group: AppGroup, recheckInterval: Duration, onStep: OnDefaultsStep
  ) throws(DefaultsError) {
    try self.init(
      SuiteName(suiteName), in: group, .byAppearance, recheckInterval: recheckInterval,
      onStep: onStep)
  }

  init(
    _ name: SuiteName, in group: AppGroup, _ secrets: SecretKeys,
    recheckInterval: Duration = .seconds(1), onStep: OnDefaultsStep = nil
  ) throws(DefaultsError) {
    location = try SuiteLocation(name, in: group)
    self.group = group.id
    self.name = name
    self.secrets = secrets
    observers = ObserverSet(recheckInterval: recheckInterval)
    self.onStep = onStep
  }

  /// The path of the suite's file, for messages and backups.
  public var path: String { location.path }

  /// Whether the suite exists, even if it is unreadable.
  public var exists: Bool { (try? location.status()) != nil }

  /// Reads changes by other processes, as every getter does, and throws if that fails.
  /// - Returns: the number of changes that were ever made to the suite.
  @discardableResult
  public func refresh() throws(DefaultsError) -> UInt64 {
    let (trouble, sequence) = state.withLock { state in
      state.view.poll(location)
      return (state.view.trouble, state.view.image.sequence)
    }
    if let trouble { throw trouble }
    return sequence
  }

  // MARK: All suites of a group

  /// The suites of a group, sorted by name.
  public static func list(in group: AppGroup) throws(DefaultsError) -> [SuiteName] {
    let directory = try SuiteLocation.directory(of: group)
    return try DefaultsError.attempt { () throws(SystemError) in
      try directory.names().compactMap { SuiteName(fileName: $0) }
    }
  }

  /// Grants the present members access to every suite of a group. A file inherits its permissions
  /// when it is created, so the group's owner must call this after granting a role.
  public static func renewAccess(in group: AppGroup) throws(DefaultsError) {
    for name in try list(in: group) {
      try SharedDefaults(name, in: group, .byAppearance).rewrite()
    }
  }
}
