/// A sign of life of the thread that supervises a session, for a watchdog outside of the process.
public struct Heartbeat: Sendable {
  /// The longest time between two calls.
  public let interval: Duration
  /// The call.
  public let beat: @Sendable () -> Void

  /// - Parameters:
  ///   - interval: the longest time between two calls, while the thread is not waiting for a
  ///     user's answer in the desktop's dialog.
  ///   - beat: called on that thread; must not block.
  public init(every interval: Duration, _ beat: @escaping @Sendable () -> Void) {
    self.interval = interval
    self.beat = beat
  }
}
