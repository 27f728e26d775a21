import CommandLineSupport
import Platform
import Synchronization

/// The programs of one turn of a suite of live uploads: a receiver, and what sends to it.
struct LiveTurn {
  let port: Int
  fileprivate(set) var started: [StartedProgram]

  var receiverID: Int32 { started[0].process.processID }
  /// All but the receiver.
  var senderIDs: [Int32] { started.dropFirst().map(\.process.processID) }

  /// Starts a program, which `BenchRun.withReceiver` stops.
  mutating func start(
    _ program: CaptureSubject.Program, onLine: (@Sendable (Substring) -> Void)? = nil
  ) throws {
    started.append(
      try StartedProgram(program.name, program.path, program.arguments, onLine: onLine))
  }
}

extension BenchRun {
  /// Starts a receiver, runs `body` once it listens, and stops all programs in all cases.
  /// - Parameter onLine: called with each line of the receiver.
  func withReceiver<Finding>(
    for subject: String, onLine: @escaping @Sendable (Substring) -> Void = { _ in },
    _ body: (inout LiveTurn) throws -> Finding
  ) throws -> Finding {
    let port = try ReceiverPort()
    let program = try CaptureSubject.Program.own("LiveReceiver", [], for: subject)
    let receiver = try StartedProgram(program.name, program.path, program.arguments) { line in
      port.note(line)
      onLine(line)
    }
    var started = [receiver]
    defer { for program in started.reversed() { program.stop() } }
    try wait(for: port.known, of: started, subject: subject, seconds: 0)
    var turn = LiveTurn(port: port.number, started: started)
    defer { started = turn.started }
    return try body(&turn)
  }
}

extension CaptureSubject.Program {
  /// A program of this project.
  static func own(
    _ name: String, _ arguments: [String], for subject: String
  ) throws(MissingSubject) -> CaptureSubject.Program {
    guard let path = siblingProgram(named: name) else {
      throw MissingSubject(
        subject: subject, program: name,
        remedy: "build it: swift build -c release --product \(name)")
    }
    return .init(name: name, path: path, arguments: arguments)
  }
}

/// The port in the receiver's line `listening PORT`.
private final class ReceiverPort: Sendable {
  let known: StopSignal
  private let port = Mutex(0)

  init() throws { known = try StopSignal() }

  var number: Int { port.withLock { $0 } }

  func note(_ line: Substring) {
    let words = line.split(separator: " ")
    guard words.count == 2, words[0] == "listening", let number = Int(words[1]) else { return }
    port.withLock { $0 = number }
    known.raise()
  }
}
