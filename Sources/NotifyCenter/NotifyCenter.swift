import AppGroup
import Platform
import Synchronization

// Named notifications among the members of a group, without a daemon.
//
// A post is counted in memory that the members share; a datagram is only the doorbell that wakes
// sleeping observers. So posts are coalesced, never lost. This module refuses to carry payloads
// (a mailbox does), to keep an order between names, and to know what a name means. Layout,
// hand-shake and failures: docs/design/notifications.md.

/// Posts and observes names in one group, as one role.
///
/// Any number of threads may use one center at once. A process needs one center per group and role.
/// Each center that observes occupies one registration.
public final class NotifyCenter: Sendable {
  /// The group whose notifications these are.
  public let group: AppGroup
  /// The role in which this process posts and observes.
  public let role: Role
  let isSystem: Bool
  let core: CenterCore

  /// Opens the group's notifications.
  /// - Throws: ``NotifyError/group(_:)`` if this process may not take the role.
  public convenience init(_ group: AppGroup, role: Role) throws(NotifyError) {
    try self.init(group, role: role, isSystem: false)
  }

  /// - Parameters:
  ///   - isSystem: whether this is FrameBus itself, which may post `framebus.` names.
  ///   - recheckInterval: how often an observer polls without a doorbell. Long in tests, which must
  ///     not pass because of it.
  package init(
    _ group: AppGroup, role: Role, isSystem: Bool, recheckInterval: Duration = .seconds(1),
    onStep: OnStep = nil
  ) throws(NotifyError) {
    do {
      try group.require(role)
    } catch {
      throw .group(error)
    }
    self.group = group
    self.role = role
    self.isSystem = isSystem
    core = CenterCore(group, recheckInterval, onStep)
  }

  // MARK: Posting

  /// Posts a name to its observers. Succeeds without observers. When this returns, the post is
  /// counted, and only the removal of the group's run directory can lose it.
  ///
  /// Never blocks, and never waits for an observer. To post a name often, make a ``Poster``.
  /// - Returns: the name's total number of posts.
  @discardableResult
  public func post(_ name: NotificationName) throws(NotifyError) -> UInt64 {
    try require(.post, name)
    return try core.word(for: name, toWrite: true).post()
  }

  /// Prepares repeated posts of a name: looks it up and checks permission only once.
  public func poster(of name: NotificationName) throws(NotifyError) -> Poster {
    try require(.post, name)
    return Poster(word: try core.word(for: name, toWrite: true))
  }

  // MARK: State

  /// The name's 64-bit state, whose meaning its users define; 0 until set.
  public func state(of name: NotificationName) throws(NotifyError) -> UInt64 {
    try require(.observe, name)
    return try core.word(for: name, toWrite: false).state
  }

  /// Sets the state. Does not notify observers: post afterwards.
  public func setState(_ state: UInt64, of name: NotificationName) throws(NotifyError) {
    try require(.setState, name)
    try core.word(for: name, toWrite: true).setState(state)
  }

  /// Sets the state if it is `old`, so that one of several processes that make the same change
  /// makes it, and posts it afterwards.
  /// - Returns: whether it was.
  package func replaceState(
    _ old: UInt64, with new: UInt64, of name: NotificationName
  ) throws(NotifyError) -> Bool {
    try require(.setState, name)
    return try core.word(for: name, toWrite: true).replaceState(old, with: new)
  }

  /// The name's total number of posts.
  public func generation(of name: NotificationName) throws(NotifyError) -> UInt64 {
    try require(.observe, name)
    return try core.word(for: name, toWrite: false).generation
  }

  // MARK: Observing

  /// Calls a closure after each post, on a thread that all closures of the process share: a slow
  /// closure delays the others. It may post, observe and cancel.
  public func observe(
    _ name: NotificationName, _ handler: @escaping @Sendable (Delivery) -> Void
  ) throws(NotifyError) -> Observation {
    try observe(name, by: .closure(handler))
  }

  /// The deliveries of a name, for a task to iterate.
  public func deliveries(of name: NotificationName) throws(NotifyError) -> Deliveries {
    Deliveries(observation: try observe(name, by: .sequence))
  }

  /// Observes with a descriptor, for the caller's event loop: see ``Observation/descriptor``.
  public func observeByDescriptor(_ name: NotificationName) throws(NotifyError) -> Observation {
    let counter = try NotifyError.attempt(EventCounter())
    return try observe(name, by: .descriptor(counter))
  }

  /// Sends this process a signal after posts: `kill(2)`. ``Observation/take()`` returns the
  /// delivery.
  /// - Throws: ``NotifyError/invalidSignal(_:)``.
  public func observe(
    _ name: NotificationName, bySignal signal: Int32
  ) throws(NotifyError) -> Observation {
    guard Signal.canBeHandled(signal) else { throw .invalidSignal(signal) }
    return try observe(name, by: .signal(signal))
  }

  /// Observes only by ``Observation/check()`` and ``Observation/take()``: nothing wakes the
  /// process.
  public func observeByCheck(_ name: NotificationName) throws(NotifyError) -> Observation {
    try observe(name, by: .check)
  }

  /// Cancels every observation of this center.
  public func removeEveryObserver() { core.removeEveryObserver() }

  // MARK: Listing

  /// Every name of the group that this process may observe, with its counts and observers, sorted
  /// by name. Includes this process's own `self.` names.
  public func list() throws(NotifyError) -> [NotificationStatus] { try core.list() }

  private func observe(
    _ name: NotificationName, by mode: ObservationCore.Mode
  ) throws(NotifyError) -> Observation {
    try require(.observe, name)
    return Observation(try core.observe(name, by: mode))
  }
}
