import ArgumentParser
import CommandLineSupport
import Platform

/// When a verb that waits for things to happen ends: `--count N`, `--timeout S`.
struct WatchLimits: ParsableArguments {
  @Option(help: ArgumentHelp("End after N of them.", valueName: "n"))
  var count: Int?
  @Option(help: ArgumentHelp("End S seconds after the start: exit status 1.", valueName: "s"))
  var timeout: Double?

  func validate() throws {
    if let count, count < 1 { throw ValidationError("--count \(count): use 1 or more") }
    if let timeout, !(timeout >= 0 && timeout <= 1e9) {
      throw ValidationError("--timeout \(timeout): use seconds, 0 or more")
    }
  }

  /// The moment at which the time ends.
  var deadline: Deadline { timeout.map { .after(.seconds($0)) } ?? .never }

  /// Takes one after the other until there were enough.
  /// - Parameters:
  ///   - readable: a descriptor that is readable while there may be one to take.
  ///   - takeNext: takes the next and prints it; false if there is none now.
  /// - Returns: how many there were, if the time ended before the count was full; nil otherwise.
  /// - Throws: `Interrupted` on Ctrl-C and SIGTERM.
  func shortfall(
    until deadline: Deadline, _ readable: Int32, _ signals: SignalWatcher,
    takeNext: () throws -> Bool
  ) throws -> Int? {
    var taken = 0
    while taken < count ?? .max {
      if signals.stop.isRaised { throw Interrupted() }
      if try takeNext() {
        taken += 1
        // What comes without a pause must not outrun the time.
        if !deadline.isPast || taken == count { continue }
        return taken
      }
      if try firstReadable(readable, signals.stop.descriptorNumber, until: deadline) == nil {
        return taken
      }
    }
    return nil
  }
}
