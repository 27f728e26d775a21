/// How long to wait before each new attempt: twice as long each time, up to a limit, and less by up
/// to a quarter by chance, so that many uploaders do not come back in the same moment.
public struct BackOff: Sendable {
  private let first: Duration
  private let longest: Duration
  private var failures = 0

  public init(first: Duration = .milliseconds(500), longest: Duration = .seconds(15)) {
    self.first = first
    self.longest = longest
  }

  /// The wait after one more failure.
  public mutating func next() -> Duration {
    let doubled = min(longest, first * (1 << min(failures, 16)))
    failures += 1
    return doubled * Double.random(in: 0.75...1)
  }

  /// An attempt went well.
  public mutating func reset() { failures = 0 }
}
