import CommandLineSupport
import Platform

/// One publisher or subscriber of a turn, controlled by the protocol of RingKit.h.
final class RingProcess {
  let program: StartedProgram
  /// Raised when the program reports that it is ready.
  private let ready: StopSignal
  /// Descriptor 3 of the process is the other end.
  private var gate: Descriptor?

  /// The time allowed for starting and ending on a busy machine, in addition to the work itself.
  private static let startTimeout: Duration = .seconds(BenchRun.startTimeoutSeconds)

  /// Starts the program and waits until it is ready.
  /// - Parameter command: the program's path and its arguments.
  init(_ name: String, command: [String], stop: StopSignal) throws {
    let ready = try StopSignal()
    let pipe = try OneWayPipe()
    program = try StartedProgram(
      name, command[0], Array(command.dropFirst()), inherited: [pipe.readEnd.number]
    ) { line in
      if line == "ready" { ready.raise() }
    }
    gate = pipe.takeWriteEnd()
    self.ready = ready
    do {
      try wait(for: ready.descriptorNumber, "did not become ready", within: .zero, stop)
    } catch {
      end()
      throw error
    }
  }

  /// Starts a publisher's work.
  func go() throws {
    guard let number = gate?.number else { return }
    try writeFully([1], to: number)
  }

  /// Tells the process that all others have ended.
  func release() { gate = nil }

  /// Waits until the process ends by itself.
  func finish(within duration: Duration, stop: StopSignal) throws -> RingFigures {
    try wait(for: program.process.descriptorNumber, "did not end", within: duration, stop)
    if program.process.status?.isSuccess == true,
      let figures = RingFigures(in: program.collectedOutput())
    {
      return figures
    }
    throw program.errorIfEnded() ?? NoFigures(program: program.name, text: program.lastWords)
  }

  /// Kills the process if it still runs.
  func end() {
    guard program.process.status == nil else { return }
    program.stop(with: Signal.kill)
  }

  private func wait(
    for descriptor: Int32, _ failure: String, within duration: Duration, _ stop: StopSignal
  ) throws {
    let watched = [descriptor, stop.descriptorNumber, program.process.descriptorNumber]
    let found = try waitUntilReadable(watched, until: .after(duration + Self.startTimeout))
    if found[0] { return }
    if found[1] { throw Interrupted() }
    if let error = program.errorIfEnded() { throw error }
    throw StuckProcess(name: program.name, failure: failure)
  }
}

struct StuckProcess: Error, CustomStringConvertible {
  let name: String
  let failure: String

  var description: String { "\(name) \(failure); try again on a less busy machine" }
}
