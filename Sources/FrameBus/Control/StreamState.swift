/// The state of a stream, set by its publisher.
enum StreamState: Equatable {
  case live
  case paused(PauseReason)
  case finished(FinishReason)
}

/// Why a stream ended, set by its publisher.
public enum FinishReason: UInt32, Hashable, Sendable, CustomStringConvertible {
  /// The source has reached its end.
  case ended = 1
  /// The publisher was asked to stop.
  case stopped = 2
  /// The source failed; its log says why.
  case failed = 3

  public var description: String {
    switch self {
    case .ended: "ended"
    case .stopped: "stopped"
    case .failed: "failed"
    }
  }
}

/// Why a running publisher publishes no frames.
public enum PauseReason: UInt32, Hashable, Sendable, CustomStringConvertible {
  /// A user paused it.
  case requested = 1
  /// The source is changing, for example the screen's size.
  case transition = 2
  /// The source is unavailable, such as a screen that is off, or a server that is away.
  case unavailable = 3

  public var description: String {
    switch self {
    case .requested: "requested"
    case .transition: "transition"
    case .unavailable: "unavailable"
    }
  }

  /// The reason in words, for people.
  public var explanation: String {
    switch self {
    case .requested: "its publisher paused it"
    case .transition: "its source is changing"
    case .unavailable:
      "its source shows nothing, such as a screen that is off or locked, a hidden window, or "
        + "another machine that is away"
    }
  }
}
