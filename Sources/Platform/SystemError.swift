import Glibc

/// A system call that failed: what was tried, on what, and the kernel's answer.
public struct SystemError: Error, Hashable, Sendable {
  /// `errno(3)` as the call left it.
  public let code: Int32
  /// The call by its manual page's name, such as `open`.
  public let operation: String
  /// The path or name the call was given, if it was given one.
  public let path: String?

  /// Whether the change is in place, and only what should make it survive a power cut failed.
  package let followsChange: Bool

  package init(
    code: Int32, operation: String, path: String? = nil, followsChange: Bool = false
  ) {
    self.code = code
    self.operation = operation
    self.path = path
    self.followsChange = followsChange
  }

  /// The same of a call that came once the change was in place.
  package var afterChange: SystemError {
    SystemError(code: code, operation: operation, path: path, followsChange: true)
  }

  /// The error that the call just made left in `errno`.
  package static func last(_ operation: String, path: String? = nil) -> SystemError {
    SystemError(code: errno, operation: operation, path: path)
  }
}

extension SystemError: CustomStringConvertible {
  /// The kernel's own words, such as `No such file or directory`.
  // SAFETY: the text is copied at once; strerror(3) of glibc has storage per thread.
  public var reason: String { unsafe String(cString: strerror(code)) }

  /// Whether nobody is there: no such path, or nothing listens there any more.
  package var isAbsence: Bool { code == ENOENT || code == ECONNREFUSED }

  /// Whether `connect(2)` found as many waiting as the listener lets wait.
  package var isFullQueue: Bool { code == EAGAIN }

  /// Whether descriptors have run out, of this process or of the machine.
  package var isExhaustion: Bool { code == EMFILE || code == ENFILE }

  /// Whether this user has sent more descriptors than may be on their way at once: `unix(7)`.
  package var isDescriptorJam: Bool { code == ETOOMANYREFS }

  /// Whether the kernel refused for want of permission.
  package var isAccessRefusal: Bool { code == EACCES || code == EPERM }

  public var description: String {
    let failure = path.map { "\(operation) \($0): \(reason)" } ?? "\(operation): \(reason)"
    return followsChange ? "\(failure), after the change, which a power cut may undo" : failure
  }
}

extension SystemError {
  /// What happened and, where the kernel's reason tells, what to do about it: for an error that
  /// reaches the user as it is.
  package var explained: String { advice.map { "\(self); \($0)" } ?? description }

  private var advice: String? {
    switch code {
    case ENOSPC, EDQUOT: "free some space and try again"
    case EROFS: "choose a place that can be written to"
    case EFBIG: "raise the limit on a file's size (`ulimit -f`, LimitFSIZE=)"
    case EACCES, EPERM: "run this as a user who may, or ask its owner"
    case ENOENT, ENOTDIR: "check the path"
    case EISDIR: "name a file"
    default: nil
    }
  }
}

/// Makes a call that returns −1 on failure, again while a signal interrupts it.
package func retryingInterrupts(
  _ operation: String, path: String? = nil, _ call: () -> Int32
) throws(SystemError) -> Int32 {
  while true {
    let result = call()
    if result >= 0 { return result }
    if errno != EINTR { throw .last(operation, path: path) }
  }
}

extension SystemError {
  /// The few causes that a person can do something particular about.
  package enum ReasonKind: Sendable { case noSpace, fileSizeLimit, readOnly, notPermitted, other }

  package var reasonKind: ReasonKind {
    switch code {
    case ENOSPC, EDQUOT: .noSpace
    case EFBIG: .fileSizeLimit
    case EROFS: .readOnly
    case EACCES, EPERM: .notPermitted
    default: .other
    }
  }

  package var isExisting: Bool { code == EEXIST || code == ENOTEMPTY }
  package var isMissing: Bool { code == ENOENT }
  /// Whether something stood where only a directory, not a link, is accepted.
  package var isNoDirectory: Bool { code == ENOTDIR || code == ELOOP }
  /// Whether what was written to has no reader left.
  package var isBrokenPipe: Bool { code == EPIPE }
  /// Whether that is so of standard output: whoever reads this program has seen enough.
  package var isClosedOutput: Bool { isBrokenPipe && path == Self.standardOutput }
  static let standardOutput = "standard output"
  /// Whether what was to be read is not open, as standard input may be from the start.
  package var isClosedDescriptor: Bool { code == EBADF }
  package var isUnsupported: Bool { code == EOPNOTSUPP }

  /// That the disk which a file is on has no room for it.
  package static func noSpace(path: String) -> SystemError {
    SystemError(code: ENOSPC, operation: "write", path: path)
  }

  package var isBusy: Bool { code == EBUSY }
  /// That somebody else has what was wanted for this process alone.
  package static func busy(path: String) -> SystemError {
    SystemError(code: EBUSY, operation: "lock", path: path)
  }
}
