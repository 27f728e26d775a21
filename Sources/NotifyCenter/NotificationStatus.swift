import Platform

/// What can be told about a name at one moment, as `framebus notify list` shows it.
public struct NotificationStatus: Hashable, Sendable {
  /// A process that observes the name.
  public struct Observer: Hashable, Sendable {
    /// As it says itself.
    public let processID: Int32
    /// As the kernel says.
    public let userID: UInt32
  }

  /// Who posted last, as it said itself: members who may post could have written anything here.
  public struct LastPoster: Hashable, Sendable {
    public let processID: Int32
    public let userID: UInt32
  }

  public let name: NotificationName
  /// How often it was posted.
  public let generation: UInt64
  public let state: UInt64
  /// When it was posted last, in nanoseconds of `CLOCK_MONOTONIC`, to some milliseconds; nil if it
  /// never was.
  public let lastPostNs: UInt64?
  public let lastPoster: LastPoster?
  /// The living processes that observe it, by user and number. Those that only check, or whose
  /// observations are all suspended, are there too. So are those that were killed and have no
  /// successor yet, where this user may not post the name.
  public let observers: [Observer]
}
