import FrameBus

/// A delivery policy as the command line names it.
public enum DeliveryPolicy: Hashable, Sendable, CustomStringConvertible {
  case latest
  case keepLatest(Int)
  /// Every frame; the publisher waits this long for this subscriber before it goes on without it.
  case lossless(deadlineSeconds: Double)

  public static let defaultLosslessSeconds = 10.0

  /// - Parameter text: `latest`, `keep:N` or `lossless[:SECONDS]`.
  /// - Returns: nil for any other text.
  public init?(_ text: String) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let argument = parts.count > 1 ? String(parts[1]) : nil
    switch (String(parts[0]), argument) {
    case ("latest", nil):
      self = .latest
    case ("keep", .some(let count)):
      guard let count = Int(count), (1...1024).contains(count) else { return nil }
      self = .keepLatest(count)
    case ("lossless", nil):
      self = .lossless(deadlineSeconds: Self.defaultLosslessSeconds)
    case ("lossless", .some(let seconds)):
      guard let seconds = Double(seconds), (0.001...86_400).contains(seconds) else { return nil }
      self = .lossless(deadlineSeconds: seconds)
    default:
      return nil
    }
  }

  /// The policy as the user writes it.
  public var description: String {
    switch self {
    case .latest: "latest"
    case .keepLatest(let count): "keep:\(count)"
    case .lossless(let seconds): "lossless:\(seconds)"
    }
  }

  var isLossless: Bool { if case .lossless = self { true } else { false } }

  package var subscriberPolicy: SubscriberPolicy {
    switch self {
    case .latest: .latest
    case .keepLatest(let count): .keepLatest(count)
    case .lossless(let seconds): .lossless(deadline: .seconds(seconds))
    }
  }
}
