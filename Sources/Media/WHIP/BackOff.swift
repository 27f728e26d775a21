/// Exponential backoff: the wait doubles with each failure up to a limit, and is reduced by a
/// random share of up to a quarter, so that many uploaders do not reconnect at the same moment.
public struct BackOff: Sendable {
  private let first: Duration
  private let longest: Duration
  private var failures = 0

  public init(first: Duration = .milliseconds(500), longest: Duration = .seconds(15)) {
    self.first = first
    self.longest = longest
  }

  /// Counts a failure and returns the wait before the next attempt.
  public mutating func next() -> Duration {
    let doubled = min(longest, first * (1 << min(failures, 16)))
    failures += 1
    return doubled * Double.random(in: 0.75...1)
  }

  /// Call this after a successful attempt.
  public mutating func reset() { failures = 0 }
}
