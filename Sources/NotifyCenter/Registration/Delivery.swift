import Platform

/// What an observer is told: that a name was posted, once or many times, since it was last told.
public struct Delivery: Hashable, Sendable {
  public let name: NotificationName
  /// How often the name has been posted in all, as of this delivery.
  public let generation: UInt64
  /// How many posts this delivery stands for: 1, or more where posts came faster than they were
  /// delivered, or while the observer was suspended or stopped.
  public let coalesced: UInt64
  /// The name's state, as of this delivery.
  public let state: UInt64
  /// Who posted, as the kernel says (`SCM_CREDENTIALS`, unix(7)). Nil where that is not known:
  /// where several posts were coalesced, or the doorbell of this one was left out. Its `pid` is 0
  /// for a process that this one's pid namespace does not show (pid_namespaces(7)): nothing to give
  /// to kill(2).
  public let poster: PeerCredentials?
  /// Whether counting began anew since the last delivery, as when a member truncated the group's
  /// table of names: then ``coalesced`` counts from there.
  public let isReset: Bool

  package init(
    name: NotificationName, generation: UInt64, coalesced: UInt64, state: UInt64,
    poster: PeerCredentials?, isReset: Bool
  ) {
    self.name = name
    self.generation = generation
    self.coalesced = coalesced
    self.state = state
    self.poster = poster
    self.isReset = isReset
  }
}
