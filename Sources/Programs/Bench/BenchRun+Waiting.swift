import CommandLineSupport
import Platform

extension BenchRun {
  /// The time allowed for starting, connecting and short stalls on a busy machine.
  static let startTimeoutSeconds = 120

  /// Waits until the programs of a subject have completed their measurement.
  /// - Parameter seconds: how long that takes without delays.
  func wait(
    for signal: StopSignal, of started: [StartedProgram], subject: String, seconds: Int
  ) throws {
    let seconds = seconds + Self.startTimeoutSeconds
    let watched =
      [signal.descriptorNumber, stop.descriptorNumber] + started.map(\.process.descriptorNumber)
    let ready = try waitUntilReadable(watched, until: .after(.seconds(seconds)))
    if ready[1] { throw Interrupted() }
    if ready[0] { return }
    for program in started { if let error = program.errorIfEnded() { throw error } }
    throw NoFrames(subject: subject, seconds: seconds, lastWords: started.last?.lastWords ?? "")
  }
}

/// A subject ran without reporting enough frames.
struct NoFrames: Error, CustomStringConvertible {
  let subject: String
  let seconds: Int
  let lastWords: String

  var description: String {
    "\(subject) did not deliver frames in \(seconds) s\(StartedProgramError.because(lastWords)); "
      + "try again on a less busy machine"
  }
}
