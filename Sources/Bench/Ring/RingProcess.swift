import CommandLineSupport
import Platform

/// One publisher or subscriber of a turn, which talks as RingKit.h says.
final class RingProcess {
  let program: StartedProgram
  /// Raised when it says that it is ready.
  private let ready: StopSignal
  /// Descriptor 3 of the process is the other end.
  private var gate: Descriptor?

  /// How long starting and ending may take, on a busy machine, beside the work itself.
  private static let patience: Duration = .seconds(60)

  /// Starts it, and waits until it is ready.
  /// - Parameter command: a program's path and its arguments.
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
      try wait(for: ready.descriptorNumber, "does not get ready", within: .zero, stop)
    } catch {
      end()
      throw error
    }
  }

  /// Lets a publisher begin.
  func go() throws {
    guard let number = gate?.number else { return }
    try writeFully([1], to: number)
  }

  /// Tells it that all others have ended.
  func release() { gate = nil }

  /// Waits for its end by itself.
  func finish(within duration: Duration, stop: StopSignal) throws -> RingFigures {
    try wait(for: program.process.descriptorNumber, "does not end", within: duration, stop)
    if program.process.status?.isSuccess == true,
      let figures = RingFigures(in: program.collectedOutput())
    {
      return figures
    }
    throw program.errorIfEnded() ?? NoFigures(program: program.name, text: program.lastWords)
  }

  /// Stops it, if it still runs.
  func end() {
    guard program.process.status == nil else { return }
    program.stop(with: Signal.kill)
  }

  private func wait(
    for descriptor: Int32, _ failure: String, within duration: Duration, _ stop: StopSignal
  ) throws {
    let watched = [descriptor, stop.descriptorNumber, program.process.descriptorNumber]
    let found = try waitUntilReadable(watched, until: .after(duration + Self.patience))
    if found[0] { return }
    if found[1] { throw Interrupted() }
    if let error = program.errorIfEnded() { throw error }
    throw StuckProcess(name: program.name, failure: failure)
  }
}

struct StuckProcess: Error, CustomStringConvertible {
  let name: String
  let failure: String

  var description: String { "\(name) \(failure); run again on a machine that is less busy" }
}
