/// Why an extension ended a broadcast, in its own words, which reach the host unchanged.
public struct BroadcastFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The longest text, in bytes of UTF-8; more is cut off here, before anybody compares.
  public static let maximumTextBytes = 1024

  /// Who counts the codes, such as `WHIP`.
  public let domain: String
  public let code: Int
  /// What happened, for a person.
  public let reason: String
  /// What the person can do, such as `Go to Application`; empty if there is nothing.
  public let recovery: String

  public init(domain: String, code: Int, reason: String, recovery: String = "") {
    self.domain = domain.prefix(ofBytes: Self.maximumTextBytes)
    self.code = code
    self.reason = reason.prefix(ofBytes: Self.maximumTextBytes)
    self.recovery = recovery.prefix(ofBytes: Self.maximumTextBytes)
  }

  public var description: String {
    "\(domain) \(code): \(reason)" + (recovery.isEmpty ? "" : " (\(recovery))")
  }
}

extension String {
  /// The longest beginning of whole characters that has at most so many bytes.
  func prefix(ofBytes limit: Int) -> String {
    if utf8.count <= limit { return self }
    var count = 0
    return String(
      prefix {
        count += $0.utf8.count
        return count <= limit
      })
  }
}

/// How a broadcast ended: four different things, which a host tells its user differently.
public enum BroadcastEnding: Hashable, Sendable, CustomStringConvertible {
  /// Somebody asked for it, or the source had no more.
  case finished
  /// Nobody was picked to take it, so that it never began.
  case cancelled
  /// The extension gave up, or could not go on.
  case failed(BroadcastFailure)
  /// The extension's process died. Its parent alone knows the signal: nil where that is gone too.
  case died(signal: Int32?)

  public var description: String {
    switch self {
    case .finished: "finished"
    case .cancelled: "cancelled"
    case .failed(let failure): "failed: \(failure)"
    case .died(let signal?): "died of signal \(signal)"
    case .died(nil): "died"
    }
  }
}
