import AppGroup
import Confinement
import CredentialStore
import Platform
import SharedLog
import Synchronization

/// The process of a role, as its host holds it: one that the host started, or one that it met.
enum RoleProcess {
  /// What was handed over to it ends with it, or with this.
  case child(LaunchedRole, RoleWords, HandOver?)
  case adopted(PeerProcess)

  var pid: Int32 {
    switch self {
    case .child(let child, _, _): child.process.processID
    case .adopted(let process): process.credentials.pid
    }
  }

  /// Readable once it has ended.
  var descriptorNumber: Int32 {
    switch self {
    case .child(let child, _, _): child.process.descriptorNumber
    case .adopted(let process): process.descriptorNumber
    }
  }

  /// How far it is confined; nil where only the host that started it knows.
  var confinement: String? {
    switch self {
    case .child(let child, _, _): child.confinement
    case .adopted: nil
    }
  }

  /// How it ended; nil while it runs.
  var end: RoleEnd? {
    switch self {
    case .child(let child, let words, _):
      guard let status = child.process.status else { return nil }
      words.waitForEnd()
      var end = RoleEnd(status: status, lastWords: words.last)
      if case .exceededMemory(let bytes)? = child.confined?.ending { end.exceededBytes = bytes }
      return end
    case .adopted(let process):
      return process.hasEnded ? RoleEnd(status: nil, lastWords: "") : nil
    }
  }

  /// - Returns: false for another user's process, which nobody but that user may end.
  @discardableResult
  func send(signal: Int32) -> Bool {
    switch self {
    case .child(let child, _, _): child.process.sendToGroup(signal: signal)
    case .adopted(let process): return process.send(signal: signal) != .refused
    }
    return true
  }

  /// Waits for its end, and brings it about where it does not come by the deadline.
  /// - Returns: false if it goes on, as another user's does.
  func stops(killAt deadline: Deadline) -> Bool {
    if waitForEnd(until: deadline) { return true }
    guard send(signal: Signal.kill) else { return false }
    switch self {
    case .child: return waitForEnd(until: .never)
    case .adopted: return waitForEnd(until: .after(Self.diesWithin))
    }
  }

  /// How long the kernel may take to end what was killed.
  private static let diesWithin = Duration.seconds(5)

  private func waitForEnd(until deadline: Deadline) -> Bool {
    switch self {
    case .child(let child, _, _): child.process.wait(until: deadline) != nil
    case .adopted(let process): process.waitForEnd(until: deadline)
    }
  }
}

/// How a role's process ended.
struct RoleEnd {
  /// Nil where only its parent would know.
  let status: ChildStatus?
  let lastWords: String
  /// The budget of memory that it took more than; nil if that is not why.
  var exceededBytes: UInt64?

  var signal: Int32? {
    if case .killed(let signal)? = status { signal } else { nil }
  }

  var description: String {
    if let exceededBytes {
      return "took more memory than its budget of \(exceededBytes >> 20) MiB, and was ended"
    }
    let how = status.map { "\($0)" } ?? "ended"
    return lastWords.isEmpty ? how : "\(how): \(lastWords)"
  }
}

/// What a role's process writes to standard error: it goes into the group's log, and the newest
/// error, or else the newest line, says why the process ended. A thread reads it, so that the
/// process is never held up.
final class RoleWords: Sendable {
  private let said = Mutex(Said())
  private let ended: StopSignal

  private struct Said {
    var newest = ""
    /// Without the word that says it is one. After it comes how to use the program, say.
    var error: String?
  }

  /// Longer lines are cut.
  private static let maximumBytes = 1024

  init(of role: Role, reading end: consuming Descriptor, _ log: SharedLog) throws(SystemError) {
    ended = try StopSignal()
    let end = SharedDescriptor(owning: end.release())
    try startThread(named: "words") { [self] in
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
    said.withLock { said in
      said.newest = line
      if isError { said.error = String(line.dropFirst(Self.errorMark.count)) }
    }
    log.append(isError ? .error : .info, line, label: "broadcast.\(role)")
  }

  private static let errorMark = "error: "

  /// The newest error, or else the newest line.
  var last: String { said.withLock { $0.error ?? $0.newest } }

  /// A process that it started may keep the stream open, so this does not wait for ever.
  func waitForEnd() {
    _ = try? waitUntilReadable([ended.descriptorNumber], until: .after(.seconds(1)))
  }
}
