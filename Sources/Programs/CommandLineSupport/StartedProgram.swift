import Confinement
import Platform
import Synchronization

/// A program that a command starts and stops. It leads its own process group, so that Ctrl-C
/// reaches only the command, which stops its programs in order. If framebus-confine is available,
/// the program dies with a killed command.
package final class StartedProgram: Sendable {
  package let name: String
  package let process: ChildProcess
  private let output: ProgramLines
  private let errors: ProgramLines

  /// - Parameters:
  ///   - name: the name in messages.
  ///   - inherited: descriptors that become 3, 4 … in the child.
  ///   - onLine: called for each complete line of either stream, on the thread that reads it.
  package init(
    _ name: String, _ path: String, _ arguments: [String],
    environment: [String: String?] = [:], inherited: [Int32] = [],
    onLine: (@Sendable (Substring) -> Void)? = nil
  ) throws {
    let output = try OneWayPipe()
    let errors = try OneWayPipe()
    var options = LaunchOptions(path, arguments)
    options.environment = environment
    options.inherited = inherited
    options.output = .descriptor(output.writeEnd.number)
    options.errors = .descriptor(errors.writeEnd.number)
    options.hasOwnGroup = true
    self.name = name
    process = try Self.start(options)
    self.output = try ProgramLines(reading: output.takeReadEnd(), onLine: onLine)
    self.errors = try ProgramLines(reading: errors.takeReadEnd(), onLine: onLine)
  }

  private static func start(_ options: LaunchOptions) throws -> ChildProcess {
    guard let launcher = try? Launcher() else { return try ChildProcess(options) }
    return try launcher.start(options, confinement: nil, bond: .diesWithHost).process
  }

  /// The newest line on standard error: progress, or an error.
  package var lastWords: String { errors.newest }

  /// The program's standard output, complete once it has exited; limited to the last mebibyte.
  package func collectedOutput() -> String {
    output.waitForEnd()
    return output.all
  }

  package func errorIfEnded() -> (any Error)? {
    guard let status = process.status else { return nil }
    errors.waitForEnd()
    let error = errors.all.split(separator: "\n").last { $0.hasPrefix("error: ") }
    let words = error.map(String.init) ?? lastWords
    return StartedProgramError.ended(name, status, lastWords: words)
  }

  /// Asks the program to exit, and kills it if it does not.
  package func stop(with signal: Int32 = Signal.terminate) {
    process.end(with: signal, killAt: .after(.seconds(15)))
  }
}

/// A program that a command needs is missing or has ended.
package enum StartedProgramError: Error, CustomStringConvertible {
  case missing(String, package: String)
  case screenDidNotStart(lastWords: String)
  case compositorDidNotStart(lastWords: String)
  /// Root has no ordinary user to start a program as.
  case noUser
  case ended(String, ChildStatus, lastWords: String)

  package var description: String {
    switch self {
    case .missing(let name, let package):
      "the program \(name) is missing; install it: apt-get install \(package)"
    case .screenDidNotStart(let words):
      "the virtual screen (Xvfb) did not start\(Self.because(words)); try `Xvfb :99`"
    case .compositorDidNotStart(let words):
      "the virtual compositor (sway) did not start\(Self.because(words)); try "
        + "`WLR_BACKENDS=headless WLR_RENDERER=pixman sway` as an ordinary user"
    case .noUser:
      "sway refuses to run as root, and no user ID from 61184 to 65519 is free: run this as an "
        + "ordinary user"
    case .ended(let name, let status, let words): "\(name) \(status)\(Self.because(words))"
    }
  }

  /// Formats the last line of a program as the end of an error message.
  package static func because(_ words: String) -> String {
    words.isEmpty ? "" : ": " + words.trimmingPrefix("error: ")
  }
}

/// The newest lines of a pipe. A thread reads it, so that the writer never blocks.
private final class ProgramLines: Sendable {
  private let kept = Mutex<[UInt8]>([])
  private let ended: StopSignal

  private static let maximumBytes = 1 << 20

  init(
    reading end: consuming Descriptor, onLine: (@Sendable (Substring) -> Void)?
  ) throws {
    ended = try StopSignal()
    let end = SharedDescriptor(owning: end.release())
    try startThread(named: "lines") { [self] in
      var rest: [UInt8] = []
      while let bytes = try? readSome(end.number), !bytes.isEmpty {
        kept.withLock { Self.append(bytes, to: &$0) }
        guard let onLine else { continue }
        Self.append(bytes, to: &rest)
        let lines = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for line in lines.dropLast() { onLine(String(decoding: line, as: UTF8.self)[...]) }
        rest = Array(lines.last ?? [])
      }
      ended.raise()
    }
  }

  /// Lets the buffer grow to twice the limit, so that old bytes are moved rarely.
  private static func append(_ bytes: [UInt8], to kept: inout [UInt8]) {
    kept += bytes
    if kept.count > 2 * maximumBytes { kept.removeFirst(kept.count - maximumBytes) }
  }

  var all: String { kept.withLock { String(decoding: $0, as: UTF8.self) } }

  var newest: String {
    String(all.split(separator: "\n").last { !$0.allSatisfy(\.isWhitespace) } ?? "")
  }

  /// Waits for the end of the output, at most 2 s: a descendant may keep the pipe open.
  func waitForEnd() {
    _ = try? waitUntilReadable([ended.descriptorNumber], until: .after(.seconds(2)))
  }
}
