import CFrameLayout
import Platform

/// Why a publisher refused a subscriber.
public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
  /// The two sides use different versions of the protocol.
  case version(publisher: Int, mine: Int)
  /// All of the stream's seats for subscribers are taken.
  case full(seats: Int)
  /// This user has as many subscribers as one user may have.
  case busy(taken: Int)
  /// The user has no role in the group.
  case notMember(uid: UInt32)
  /// The publisher is a live source, which waits for nobody.
  case losslessNotOffered
  /// The policy asks for more frames than the stream's ring keeps.
  case ringTooShallow(ringDepth: Int)
  /// The publisher did not understand the request.
  case malformed
  /// The publisher lacks memory or descriptors.
  case outOfResources(SystemError)

  package init(_ refusal: fb_refusal) {
    let value = Int(refusal.value)
    switch Int(refusal.reason) {
    case Int(FB_REFUSED_VERSION): self = .version(publisher: value, mine: Int(FB_ABI_VERSION))
    case Int(FB_REFUSED_FULL): self = .full(seats: value)
    case Int(FB_REFUSED_BUSY): self = .busy(taken: value)
    case Int(FB_REFUSED_NOT_MEMBER): self = .notMember(uid: refusal.value)
    case Int(FB_REFUSED_LOSSLESS): self = .losslessNotOffered
    case Int(FB_REFUSED_RING_DEPTH): self = .ringTooShallow(ringDepth: value)
    case Int(FB_REFUSED_RESOURCES):
      self = .outOfResources(SystemError(code: Int32(clamping: value), operation: "attach"))
    default: self = .malformed
    }
  }

  /// Whether a later attempt may succeed.
  var mayPass: Bool {
    switch self {
    case .full, .busy, .outOfResources: true
    default: false
    }
  }

  public var description: String {
    switch self {
    case .version(let publisher, let mine):
      "the publisher uses protocol version \(publisher), this program version \(mine); install "
        + "the same FrameBus for both"
    case .full(let seats):
      "all \(seats) subscriber seats are taken; stop a subscriber (`framebus streams` lists them)"
    case .busy(let taken):
      "this user already has \(taken) subscribers, the limit for one user; stop one of them"
    case .notMember(let uid):
      "user \(uid) has no role in this group; ask its owner for "
        + "`framebus group grant extension --uid \(uid)`"
    case .losslessNotOffered:
      "the publisher does not offer lossless delivery, as live sources do not; use --policy "
        + "latest or keep:N"
    case .ringTooShallow(let ringDepth):
      "the stream keeps \(ringDepth) frames; use at most keep:\(ringDepth)"
    case .malformed:
      "the publisher did not understand the request; install the same FrameBus for both"
    case .outOfResources(let error) where error.isDescriptorJam:
      "the publisher cannot send descriptors: another program of its user has too many in flight; "
        + "end that program, or raise the publisher's limit (`ulimit -n`)"
    case .outOfResources(let error):
      "the publisher is out of resources (\(error.reason)); raise its limits (`ulimit -n`, memory)"
    }
  }
}

/// Why a subscriber could not attach.
public enum SubscriberError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Nobody publishes the stream.
  case noSuchStream(StreamName)
  /// The publisher refuses this subscriber.
  case refused(StreamName, Refusal)
  /// The publisher did not answer in time.
  case noAnswer(StreamName)
  /// The answering process violates the protocol or is not a member of the group.
  case untrusted(StreamName, String)
  /// This user may not open the path.
  case notAllowed(path: String)
  /// An option is out of its range; the text says which.
  case wrongOptions(String)
  /// The stop signal was raised during the wait.
  case stopped
  /// A system call failed.
  case system(SystemError)

  public var description: String {
    switch self {
    case .noSuchStream(let stream):
      "nobody publishes stream “\(stream)”; start it, for example with `framebus capture screen "
        + "--stream \(stream)`, or see `framebus streams`"
    case .refused(let stream, let refusal): "stream “\(stream)”: \(refusal)"
    case .noAnswer(let stream):
      "the publisher of “\(stream)” does not answer; it may be stopped or overloaded "
        + "(`framebus streams` shows its pid)"
    case .untrusted(let stream, let why):
      "the publisher of “\(stream)” cannot be trusted: \(why); `framebus group doctor` checks the "
        + "group"
    case .notAllowed(let path):
      "no permission to reach \(path); ask the group's owner for "
        + "`framebus group grant ROLE --uid N`"
    case .wrongOptions(let what): what
    case .stopped: "stopped while waiting for the stream"
    case .system(let error): error.explained
    }
  }
}

/// Why receiving failed.
public enum ReceiveError: Error, Hashable, Sendable, CustomStringConvertible {
  /// All granted leases are held.
  case holdsExhausted(granted: Int)
  /// The buffer for `copyNext` is shorter than the frame.
  case bufferTooSmall(frameBytes: Int)
  /// The publisher's successor refuses this subscriber.
  case refused(StreamName, Refusal)
  /// The answering process violates the protocol or is not a member of the group.
  case untrusted(StreamName, String)
  /// A system call failed.
  case system(SystemError)

  public var description: String {
    switch self {
    case .holdsExhausted(let granted):
      "all \(granted) granted leases are held; release one first, or request more with "
        + "SubscriberOptions.holds"
    case .bufferTooSmall(let frameBytes):
      "the frame has \(frameBytes) bytes, more than the buffer; pass copyNext a larger one"
    case .refused(let stream, let refusal): SubscriberError.refused(stream, refusal).description
    case .untrusted(let stream, let why): SubscriberError.untrusted(stream, why).description
    case .system(let error): error.explained
    }
  }
}
