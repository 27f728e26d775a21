/// What a publisher says about its stream as a whole.
enum StreamState: Equatable {
  case live
  case paused(PauseReason)
  case finished(FinishReason)
}

/// Why a stream ended, as its publisher said it.
public enum FinishReason: UInt32, Hashable, Sendable, CustomStringConvertible {
  /// The source has no more frames.
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

/// Why no frames come although the publisher is there.
public enum PauseReason: UInt32, Hashable, Sendable, CustomStringConvertible {
  /// Somebody paused it.
  case requested = 1
  /// The source changes into something else, such as another size of the screen.
  case transition = 2
  /// There is nothing to capture, such as a screen that is off or locked.
  case unavailable = 3

  public var description: String {
    switch self {
    case .requested: "requested"
    case .transition: "transition"
    case .unavailable: "unavailable"
    }
  }
}
