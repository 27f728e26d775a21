import Platform

/// Why a publisher could not start or change.
public enum PublisherError: Error, Sendable, CustomStringConvertible {
  /// Another process publishes this stream now.
  case alreadyPublished(StreamName)
  /// This user may not publish in the group.
  case notAllowed(path: String)
  /// A stream name belongs to its publisher's user until that publisher exits cleanly. A killed
  /// publisher leaves its lock file behind, at this path, which no other user may replace.
  case ofAnotherUser(StreamName, UInt32, String)
  /// The path of the stream's socket or lock holds a file of another kind.
  case inTheWay(path: String, what: String)
  /// The group's directory has too long a path for a socket.
  case socketPathTooLong(path: String, bytes: Int)
  /// An option is out of its range; the text says which.
  case wrongOptions(String)
  /// The pool would exceed the address space.
  case poolTooLarge(byteCount: Int)
  /// The source's `poolWillSeal` threw this.
  case poolRefused(any Error)
  /// A system call failed.
  case system(SystemError)

  public var description: String {
    switch self {
    case .alreadyPublished(let stream):
      "stream “\(stream)” already has a publisher; stop it (`framebus streams` shows its pid) or "
        + "choose another name with --stream"
    case .notAllowed(let path):
      "no permission to publish: \(path) is not writable for this user; ask the group's owner for "
        + "`framebus group grant capture --uid N`"
    case .ofAnotherUser(let stream, let userID, let path):
      "stream “\(stream)” belongs to user \(userID), whose publisher is running or was killed; "
        + "choose another name with --stream, or have that user or the group's owner remove "
        + "\(path) while nobody publishes the stream"
    case .inTheWay(let path, let what):
      "\(path) is a \(what), not a file of this stream; have its owner or the group's owner "
        + "remove it"
    case .socketPathTooLong(let path, let bytes):
      "the socket path \(path) has \(bytes) bytes; Linux allows \(maximumSocketPathBytes); use a "
        + "shorter group ID or --root"
    case .wrongOptions(let what): what
    case .poolTooLarge(let byteCount):
      "a pool of \(byteCount) bytes is too large; use a smaller picture or a smaller holdQuota"
    case .poolRefused(let error): "\(error)"
    case .system(let error): error.explained
    }
  }
}

/// Why no slot could be loaned.
public enum LoanError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A lossless subscriber has not yet received the frame that this one would overwrite.
  case backpressure(subscriber: Int, lagFrames: UInt64)
  /// All of the publisher's `maxLoans` loans are in use.
  case tooManyLoans(maxLoans: Int)
  /// The stream is paused; `resume` it first.
  case paused
  /// No slot became free before the deadline.
  case timedOut
  /// The stop signal was raised during the wait.
  case stopped

  public var description: String {
    switch self {
    case .backpressure(let subscriber, let lagFrames):
      "lossless subscriber \(subscriber) is \(lagFrames) frames behind; wait with "
        + "loan(waitingUntil:), or run `framebus streams`"
    case .tooManyLoans(let maxLoans):
      "all \(maxLoans) loans are in use (maxLoans); publish or drop one first"
    case .paused: "the stream is paused; resume it before the next loan"
    case .timedOut: "no slot became free before the deadline"
    case .stopped: "stopped while waiting for a slot"
    }
  }
}
