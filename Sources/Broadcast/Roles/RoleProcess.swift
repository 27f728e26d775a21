import AppGroup
import Confinement
import CredentialStore
import Platform
import SharedLog
import Synchronization

/// The process of a role as its host sees it: started by the host, or adopted.
enum RoleProcess {
  /// How it is confined, as text for people; its standard error; and the handed-over credentials,
  /// which end when the process exits or this value is released.
  case child(RunningRole, confinement: String, RoleErrorOutput, HandOver?)
  case adopted(PeerProcess)

  var pid: Int32 {
    switch self {
    case .child(let role, _, _, _): role.processID
    case .adopted(let process): process.credentials.pid
    }
  }

  /// Readable once the process has exited.
  var descriptorNumber: Int32 {
    switch self {
    case .child(let role, _, _, _): role.descriptorNumber
    case .adopted(let process): process.descriptorNumber
    }
  }

  /// How the process is confined; nil if only the host that started it knows.
  var confinement: String? {
    switch self {
    case .child(_, let confinement, _, _): confinement
    case .adopted: nil
    }
  }

  /// How the process ended; nil while it runs.
  var end: RoleEnd? {
    switch self {
    case .child(let role, _, let output, _):
      guard let ending = role.ending else { return nil }
      output.waitForEnd()
      return RoleEnd(ending: ending, lastLine: output.last)
    case .adopted(let process):
      return process.hasEnded ? RoleEnd(ending: nil, lastLine: "") : nil
    }
  }

  /// - Returns: false for another user's process, which only that user may signal.
  @discardableResult
  func send(signal: Int32) -> Bool {
    switch self {
    case .child(let role, _, _, _): role.process.sendToGroup(signal: signal)
    case .adopted(let process): return process.send(signal: signal) != .refused
    }
    return true
  }

  /// Waits for the process to exit, and kills it at the deadline.
  /// - Returns: false if it is still running, as another user's process may be.
  func stops(killAt deadline: Deadline) -> Bool {
    if waitForEnd(until: deadline) { return true }
    guard send(signal: Signal.kill) else { return false }
    switch self {
    case .child: return waitForEnd(until: .never)
    case .adopted: return waitForEnd(until: .after(Self.killTimeout))
    }
  }

  /// How long the kernel may take to end a killed process.
  private static let killTimeout = Duration.seconds(5)

  private func waitForEnd(until deadline: Deadline) -> Bool {
    switch self {
    case .child(let role, _, _, _): role.wait(until: deadline) != nil
    case .adopted(let process): process.waitForEnd(until: deadline)
    }
  }
}

/// How a role's process ended.
struct RoleEnd {
  /// Nil for an adopted process: only its parent receives the status.
  let ending: RoleEnding?
  let lastLine: String

  var description: String {
    let how: String
    switch ending {
    case .exceededMemory(let bytes)?:
      return "exceeded its memory budget of \(bytes >> 20) MiB and was killed"
    case .finished?: how = "\(ChildStatus.exited(0))"
    case let ending?: how = "\(ending)"
    case nil: how = "ended"
    }
    return lastLine.isEmpty ? how : "\(how): \(lastLine)"
  }
}

/// The standard error of a role's process. Each line goes into the group's log; the newest error,
/// or else the newest line, explains why the process ended. A thread reads the pipe, so that the
/// process never blocks on it.
final class RoleErrorOutput: Sendable {
  private let newest = Mutex("")
  /// The newest error without its `error: ` prefix. Usage text, say, may follow it.
  private let error = Mutex<String?>(nil)
  private let ended: StopSignal
  /// Whether every line is logged at level debug.
  private let isQuiet: Bool

  /// Longer lines are cut.
  private static let maximumBytes = 1024

  init(
    of role: Role, reading end: consuming Descriptor, _ log: SharedLog, isQuiet: Bool = false
  ) throws(SystemError) {
    self.isQuiet = isQuiet
    ended = try StopSignal()
    let end = SharedDescriptor(owning: end.release())
    try startThread(named: "role stderr") { [self] in
      var rest: [UInt8] = []
      while let bytes = try? readSome(end.number), !bytes.isEmpty {
        rest += bytes
        while let newline = rest.firstIndex(of: UInt8(ascii: "\n")) {
          take(rest[..<newline], of: role, log)
          rest.removeSubrange(...newline)
        }
        if rest.count > Self.maximumBytes { rest.removeFirst(rest.count - Self.maximumBytes) }
      }
      take(rest[...], of: role, log)
      ended.raise()
    }
  }

  private func take(_ bytes: ArraySlice<UInt8>, of role: Role, _ log: SharedLog) {
    let line = String(decoding: bytes.suffix(Self.maximumBytes), as: UTF8.self).plain
    guard !line.allSatisfy(\.isWhitespace) else { return }
    let isError = line.lowercased().hasPrefix(Self.errorMark)
    newest.withLock { $0 = line }
    if isError { error.withLock { $0 = String(line.dropFirst(Self.errorMark.count)) } }
    log.append(isQuiet ? .debug : isError ? .error : .info, line, label: "broadcast.\(role)")
  }

  private static let errorMark = "error: "

  /// The newest error, or else the newest line.
  var last: String { error.withLock { $0 } ?? newest.withLock { $0 } }

  /// Waits for the end of the output, at most 1 s: a descendant may keep the pipe open.
  func waitForEnd() {
    _ = try? waitUntilReadable([ended.descriptorNumber], until: .after(.seconds(1)))
  }
}
