import Platform

/// One or more posts of a name, since the last delivery.
public struct Delivery: Hashable, Sendable {
  /// The name of the notification.
  public let name: NotificationName
  /// The name's total number of posts, as of this delivery.
  public let generation: UInt64
  /// Number of posts in this delivery: more than 1 if posts came faster than they were delivered,
  /// or while the observer was suspended or stopped.
  public let coalesced: UInt64
  /// The name's state, as of this delivery.
  public let state: UInt64
  /// The poster, as the kernel reports it (`SCM_CREDENTIALS`, unix(7)). Nil if unknown: several
  /// posts were coalesced, or this one needed no doorbell. Its `pid` is 0 for a process outside
  /// this process's pid namespace (pid_namespaces(7)): do not pass it to kill(2).
  public let poster: PeerCredentials?
  /// Whether counting restarted since the last delivery, as when a member truncated the group's
  /// table of names. ``coalesced`` then counts from the restart.
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
