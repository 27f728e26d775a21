import AppGroup
import CFrameBus
import FrameBus
import Platform

/// An error as C receives it.
struct CFailure: Error {
  let code: Int32
  let systemError: Int32
  let message: String

  init(_ code: Int, _ message: String, systemError: Int32 = 0) {
    self.code = Int32(code)
    self.message = message
    self.systemError = systemError
  }

  /// An argument that C must not pass.
  static func argument(_ what: String) -> CFailure { CFailure(FRAMEBUS_ERROR_ARGUMENT, what) }

  init(_ error: SystemError, _ message: String? = nil) {
    self.init(
      error.isAccessRefusal ? FRAMEBUS_ERROR_PERMISSION : FRAMEBUS_ERROR_SYSTEM,
      message ?? error.explained, systemError: error.code)
  }
}

/// An error of the core that C receives as a code.
protocol CFailing: Error {
  var failure: CFailure { get }
}

extension CFailing {
  /// Makes a call of the core and converts its error.
  @inline(__always)
  static func converted<Result: ~Copyable>(
    _ call: @autoclosure () throws(Self) -> Result
  ) throws(CFailure) -> Result {
    do { return try call() } catch { throw error.failure }
  }
}

extension SystemError: CFailing { var failure: CFailure { CFailure(self) } }
extension GroupIDError: CFailing { var failure: CFailure { CFailure(self) } }
extension GroupError: CFailing { var failure: CFailure { CFailure(self) } }
extension StreamNameError: CFailing { var failure: CFailure { CFailure(self) } }
extension FrameFormatError: CFailing { var failure: CFailure { CFailure(self) } }
extension PublisherError: CFailing { var failure: CFailure { CFailure(self) } }
extension LoanError: CFailing { var failure: CFailure { CFailure(self) } }
extension SubscriberError: CFailing { var failure: CFailure { CFailure(self) } }
extension ReceiveError: CFailing { var failure: CFailure { CFailure(self) } }

// MARK: - Groups and frames

extension CFailure {
  init(_ error: GroupIDError) { self = .argument("\(error)") }
  init(_ error: StreamNameError) { self = .argument("\(error)") }
  init(_ error: FrameFormatError) { self = .argument("\(error)") }

  init(_ error: GroupError) {
    let code =
      switch error.kind {
      case .unknown: FRAMEBUS_ERROR_NOT_FOUND
      case .exists: FRAMEBUS_ERROR_EXISTS
      case .notPermitted: FRAMEBUS_ERROR_PERMISSION
      case .unsafe, .brokenManifest: FRAMEBUS_ERROR_UNTRUSTED
      case .busy: FRAMEBUS_ERROR_BUSY
      case .newerVersion, .system: FRAMEBUS_ERROR_SYSTEM
      }
    self.init(code, "\(error)")
  }

  init(_ error: PublisherError) {
    switch error {
    case .alreadyPublished, .ofAnotherUser: self.init(FRAMEBUS_ERROR_BUSY, "\(error)")
    case .notAllowed: self.init(FRAMEBUS_ERROR_PERMISSION, "\(error)")
    case .inTheWay: self.init(FRAMEBUS_ERROR_UNTRUSTED, "\(error)")
    case .socketPathTooLong, .wrongOptions: self = .argument("\(error)")
    case .poolTooLarge: self.init(FRAMEBUS_ERROR_LIMIT, "\(error)")
    case .poolRefused: self.init(FRAMEBUS_ERROR_SYSTEM, "\(error)")
    case .system(let system): self.init(system)
    }
  }

  init(_ error: LoanError) {
    switch error {
    case .tooManyLoans(let maxLoans):
      self.init(
        FRAMEBUS_ERROR_LIMIT,
        "all \(maxLoans) loans are out; publish or abandon one first, or raise maximum_loans")
    case .paused:
      self.init(FRAMEBUS_ERROR_PAUSED, "the stream is paused; resume it before the next loan")
    case .backpressure, .timedOut, .stopped:
      self.init(FRAMEBUS_ERROR_BACKPRESSURE, "\(error)")
    }
  }

  init(_ error: SubscriberError) {
    switch error {
    case .noSuchStream: self.init(FRAMEBUS_ERROR_NOT_FOUND, "\(error)")
    case .refused(_, let refusal): self.init(refusal, "\(error)")
    case .noAnswer: self.init(FRAMEBUS_ERROR_NO_ANSWER, "\(error)")
    case .untrusted: self.init(FRAMEBUS_ERROR_UNTRUSTED, "\(error)")
    case .notAllowed: self.init(FRAMEBUS_ERROR_PERMISSION, "\(error)")
    case .wrongOptions: self = .argument("\(error)")
    case .stopped: self.init(FRAMEBUS_STOPPED, "\(error)")
    case .system(let system): self.init(system)
    }
  }

  private init(_ refusal: Refusal, _ message: String) {
    switch refusal {
    case .notMember: self.init(FRAMEBUS_ERROR_PERMISSION, message)
    case .full, .busy: self.init(FRAMEBUS_ERROR_LIMIT, message)
    case .outOfResources(let system):
      self.init(FRAMEBUS_ERROR_SYSTEM, message, systemError: system.code)
    case .version, .losslessNotOffered, .ringTooShallow, .malformed:
      self.init(FRAMEBUS_ERROR_REFUSED, message)
    }
  }

  init(_ error: ReceiveError) {
    switch error {
    case .holdsExhausted(let granted):
      self.init(
        FRAMEBUS_ERROR_LIMIT,
        "all \(granted) granted leases are held; release one first, or request more with the "
          + "option leases")
    case .bufferTooSmall(let frameBytes):
      self.init(
        FRAMEBUS_ERROR_LIMIT,
        "the frame has \(frameBytes) bytes, more than the buffer; pass a larger one")
    case .refused(_, let refusal): self.init(refusal, "\(error)")
    case .untrusted: self.init(FRAMEBUS_ERROR_UNTRUSTED, "\(error)")
    case .system(let system): self.init(system)
    }
  }
}
