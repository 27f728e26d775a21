import Platform

/// Why a publisher could not start or change.
public enum PublisherError: Error, Sendable, CustomStringConvertible {
  /// Another process publishes this stream now.
  case alreadyPublished(StreamName)
  /// The group lets this user publish nothing.
  case notAllowed(path: String)
  /// A name is its publisher's user's until that publisher ends in order. One that was killed
  /// leaves a file that no other user may replace: this one.
  case ofAnotherUser(StreamName, UInt32, String)
  /// Where the stream's socket or lock should be lies something else.
  case inTheWay(path: String, what: String)
  case socketPathTooLong(path: String, bytes: Int)
  case wrongOptions(String)
  /// The pool would be larger than can be addressed.
  case poolTooLarge(byteCount: Int)
  /// The source's `poolWillSeal` threw this.
  case poolRefused(any Error)
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
      "stream “\(stream)” is user \(userID)'s until their publisher of it ends, and if that was "
        + "killed until their next one does; choose another name with --stream, or have that user "
        + "or the group's owner remove \(path) while nobody publishes it"
    case .inTheWay(let path, let what):
      "a \(what) lies at \(path), where this stream's own file should be; have its owner or the "
        + "group's owner remove it"
    case .socketPathTooLong(let path, let bytes):
      "the socket path \(path) has \(bytes) bytes, and Linux allows \(maximumSocketPathBytes); use "
        + "a shorter group id or --root"
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
  /// A lossless subscriber has yet to receive the frame whose place this one needs.
  case backpressure(subscriber: Int, lagFrames: UInt64)
  /// As many loans are out as the publisher was made for.
  case tooManyLoans(maxLoans: Int)
  /// The stream is paused; `resume` it first.
  case paused
  case timedOut
  case stopped

  public var description: String {
    switch self {
    case .backpressure(let subscriber, let lagFrames):
      "subscriber \(subscriber) is \(lagFrames) frames behind and was promised every frame; wait "
        + "with loan(waitingUntil:), or look with `framebus streams`"
    case .tooManyLoans(let maxLoans):
      "\(maxLoans) loans are out, and maxLoans is \(maxLoans); publish or drop one first"
    case .paused: "the stream is paused; resume it before the next loan"
    case .timedOut: "no slot became free before the deadline"
    case .stopped: "stopped while waiting for a slot"
    }
  }
}
