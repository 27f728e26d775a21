import Confinement
import Platform
import Synchronization

/// A program that a verb starts and stops. It leads its own process group, so that Ctrl-C reaches
/// only the verb, which then stops everything in its own order. It dies with the verb that is
/// killed, where there is a framebus-confine to see to that.
package final class StartedProgram: Sendable {
  package let name: String
  package let process: ChildProcess
  private let output: ProgramLines
  private let errors: ProgramLines

  /// - Parameters:
  ///   - name: what messages call it.
  ///   - inherited: descriptors that become 3, 4 … in the child.
  ///   - onLine: told each whole line it writes, of either stream, by the thread that reads it.
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

  /// The newest line it wrote to standard error: its progress, or what went wrong.
  package var lastWords: String { errors.newest }

  /// What it wrote to standard output, complete once it has ended; of more than a mebibyte, the
  /// end.
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

  /// Asks it to end cleanly, and insists if it does not.
  package func stop(with signal: Int32 = Signal.terminate) {
    process.end(with: signal, killAt: .after(.seconds(15)))
  }
}

/// Why a program that a verb needs is not there, or no longer.
package enum StartedProgramError: Error, CustomStringConvertible {
  case missing(String, package: String)
  case screenDidNotStart(lastWords: String)
  case ended(String, ChildStatus, lastWords: String)

  package var description: String {
    switch self {
    case .missing(let name, let package):
      "there is no program \(name); install it: apt-get install \(package)"
    case .screenDidNotStart(let words):
      "the virtual screen (Xvfb) did not start\(Self.because(words)); try `Xvfb :99`"
    case .ended(let name, let status, let words): "\(name) \(status)\(Self.because(words))"
    }
  }

  /// The last words of a program, as the end of a message about it.
  package static func because(_ words: String) -> String {
    words.isEmpty ? "" : ": " + words.trimmingPrefix("error: ")
  }
}

/// The lines of a stream, read as they come by a thread of its own, so that whoever writes them is
/// never held up. The newest are kept.
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

  /// Twice as much may be kept, so that what is old is seldom moved away.
  private static func append(_ bytes: [UInt8], to kept: inout [UInt8]) {
    kept += bytes
    if kept.count > 2 * maximumBytes { kept.removeFirst(kept.count - maximumBytes) }
  }

  var all: String { kept.withLock { String(decoding: $0, as: UTF8.self) } }

  var newest: String {
    String(all.split(separator: "\n").last { !$0.allSatisfy(\.isWhitespace) } ?? "")
  }

  /// A grandchild may keep the stream open, so this does not wait for ever.
  func waitForEnd() {
    _ = try? waitUntilReadable([ended.descriptorNumber], until: .after(.seconds(2)))
  }
}
