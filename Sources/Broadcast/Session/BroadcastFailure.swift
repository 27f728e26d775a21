/// Why an extension ended a broadcast. The host receives this text unchanged.
public struct BroadcastFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The longest text, in bytes of UTF-8. Longer text is cut here, before any comparison.
  public static let maximumTextBytes = 1024

  /// The domain that defines the codes, such as `WHIP`.
  public let domain: String
  /// The code, whose meaning the domain defines.
  public let code: Int
  /// What happened, as text for people.
  public let reason: String
  /// What the user can do, such as `Go to Application`; empty if nothing.
  public let recovery: String

  /// A failure with its texts, which are cut to their longest.
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
  /// The longest prefix of whole characters with at most `limit` bytes.
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

/// How a broadcast ended. A host reports the four cases differently.
public enum BroadcastEnding: Hashable, Sendable, CustomStringConvertible {
  /// Finished on request, or because the source ended.
  case finished
  /// No extension was picked, so the broadcast never started.
  case cancelled
  /// The extension failed.
  case failed(BroadcastFailure)
  /// The extension's process died. The signal is nil if its parent, which alone receives it, has
  /// died too.
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
