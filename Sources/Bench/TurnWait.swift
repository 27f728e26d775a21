import CommandLineSupport
import Platform

extension BenchRun {
  /// How long starting may take, and a connection or stopping for a while, on a busy machine.
  static let patience = 60

  /// Waits until the programs of a subject have brought what was asked of them.
  /// - Parameter seconds: how long that takes when nothing holds them up.
  func wait(
    for signal: StopSignal, of started: [StartedProgram], subject: String, seconds: Int
  ) throws {
    let seconds = seconds + Self.patience
    let watched =
      [signal.descriptorNumber, stop.descriptorNumber] + started.map(\.process.descriptorNumber)
    let ready = try waitUntilReadable(watched, until: .after(.seconds(seconds)))
    if ready[1] { throw Interrupted() }
    if ready[0] { return }
    for program in started { if let error = program.errorIfEnded() { throw error } }
    throw NoFrames(subject: subject, seconds: seconds, lastWords: started.last?.lastWords ?? "")
  }
}

/// A subject ran but said nothing of its frames.
struct NoFrames: Error, CustomStringConvertible {
  let subject: String
  let seconds: Int
  let lastWords: String

  var description: String {
    "\(subject) brought no frames in \(seconds) s\(StartedProgramError.because(lastWords)); "
      + "run again on a machine that is less busy"
  }
}
