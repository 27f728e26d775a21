import Glibc

/// A failed system call: the operation, its path, and errno.
public struct SystemError: Error, Hashable, Sendable {
  /// `errno(3)` after the call.
  public let code: Int32
  /// The name of the call in its manual page, such as `open`.
  public let operation: String
  /// The path or name passed to the call, if any.
  public let path: String?

  /// Whether the change was made, and only syncing it to disk failed.
  package let followsChange: Bool

  package init(
    code: Int32, operation: String, path: String? = nil, followsChange: Bool = false
  ) {
    self.code = code
    self.operation = operation
    self.path = path
    self.followsChange = followsChange
  }

  /// The same error, for a call that followed the change.
  package var afterChange: SystemError {
    SystemError(code: code, operation: operation, path: path, followsChange: true)
  }

  /// The error in `errno` from the last call.
  package static func last(_ operation: String, path: String? = nil) -> SystemError {
    SystemError(code: errno, operation: operation, path: path)
  }
}

extension SystemError: CustomStringConvertible {
  /// The text for `code`, such as `No such file or directory`.
  // SAFETY: the text is copied at once; strerror(3) of glibc has storage per thread.
  public var reason: String { unsafe String(cString: strerror(code)) }

  /// Whether the peer is absent: no such path, or no listener.
  package var isAbsence: Bool { code == ENOENT || code == ECONNREFUSED }

  /// Whether `connect(2)` found the listener's backlog full.
  package var isFullQueue: Bool { code == EAGAIN }

  /// Whether this process or the machine has run out of descriptors.
  package var isExhaustion: Bool { code == EMFILE || code == ENFILE }

  /// Whether this user has too many descriptors in flight: `unix(7)`.
  package var isDescriptorJam: Bool { code == ETOOMANYREFS }

  /// Whether permission was denied.
  package var isAccessRefusal: Bool { code == EACCES || code == EPERM }

  public var description: String {
    let failure = path.map { "\(operation) \($0): \(reason)" } ?? "\(operation): \(reason)"
    return followsChange ? "\(failure), after the change; a power cut may undo it" : failure
  }
}

extension SystemError {
  /// The description and, for known causes, advice. For errors shown to the user directly.
  package var explained: String { advice.map { "\(self); \($0)" } ?? description }

  private var advice: String? {
    switch code {
    case ENOSPC, EDQUOT: "free some space and try again"
    case EROFS: "choose a writable location"
    case EFBIG: "raise the limit on a file's size (`ulimit -f`, LimitFSIZE=)"
    case EACCES, EPERM: "run this as a user with permission, or ask the owner"
    case ENOENT, ENOTDIR: "check the path"
    case EISDIR: "name a file"
    default: nil
    }
  }
}

/// An error that a failed system call can become.
package protocol SystemFailure: Error {
  init(_ error: SystemError)
}

extension SystemFailure {
  /// Runs system calls and converts their error.
  package static func attempt<Value: ~Copyable>(
    _ calls: () throws(SystemError) -> Value
  ) throws(Self) -> Value {
    do { return try calls() } catch { throw Self(error) }
  }

  /// Makes one system call and converts its error.
  package static func attempt<Value: ~Copyable>(
    _ call: @autoclosure () throws(SystemError) -> Value
  ) throws(Self) -> Value {
    do { return try call() } catch { throw Self(error) }
  }
}

/// Makes a call that returns −1 on failure, and repeats it while a signal interrupts it.
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
  /// The causes for which there is particular advice.
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
  /// Whether a path component is not a directory; links are not accepted.
  package var isNoDirectory: Bool { code == ENOTDIR || code == ELOOP }
  /// Whether the pipe or socket has no reader left.
  package var isBrokenPipe: Bool { code == EPIPE }
  /// Whether standard output has no reader left. A closed standard output is not an error.
  package var isClosedOutput: Bool { isBrokenPipe && path == Self.standardOutput }
  static let standardOutput = "standard output"
  /// Whether the descriptor is not open, as standard input may be from the start.
  package var isClosedDescriptor: Bool { code == EBADF }
  package var isUnsupported: Bool { code == EOPNOTSUPP }

  /// The file's file system is full.
  package static func noSpace(path: String) -> SystemError {
    SystemError(code: ENOSPC, operation: "write", path: path)
  }

  package var isBusy: Bool { code == EBUSY }
  /// The file is in use by another process.
  package static func busy(path: String) -> SystemError {
    SystemError(code: EBUSY, operation: "lock", path: path)
  }
}
