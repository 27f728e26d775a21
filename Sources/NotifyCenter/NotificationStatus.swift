import Platform

/// The status of a name, as `framebus notify list` shows it.
public struct NotificationStatus: Hashable, Sendable {
  /// A process that observes the name.
  public struct Observer: Hashable, Sendable {
    /// As the process claims.
    public let processID: Int32
    /// As the kernel reports.
    public let userID: UInt32
  }

  /// The last poster, as it claims: members who may post can write any value.
  public struct LastPoster: Hashable, Sendable {
    /// The process.
    public let processID: Int32
    /// Its user.
    public let userID: UInt32
  }

  /// The name of the notification.
  public let name: NotificationName
  /// Number of posts.
  public let generation: UInt64
  /// The number that `setState` stored last.
  public let state: UInt64
  /// Time of the last post, in nanoseconds of `CLOCK_MONOTONIC`, accurate to some milliseconds; nil
  /// before the first post.
  public let lastPostNs: UInt64?
  /// The process that posted last; nil if none has.
  public let lastPoster: LastPoster?
  /// The living processes that observe the name, by user and number. Includes those that only
  /// check, and those whose observations are all suspended. Where this user may not post the name,
  /// it also includes killed processes whose registration nobody has taken over.
  public let observers: [Observer]
}
