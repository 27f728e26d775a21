import ArgumentParser
import CommandLineSupport
import Platform

/// When a verb that waits for events stops: `--count N`, `--timeout S`.
struct WatchLimits: ParsableArguments {
  @Option(help: ArgumentHelp("Stop after N events.", valueName: "n"))
  var count: Int?
  @Option(help: ArgumentHelp("Stop after S seconds with exit status 1.", valueName: "s"))
  var timeout: Double?

  func validate() throws {
    if let count, count < 1 { throw ValidationError("--count \(count): use 1 or more") }
    if let timeout, !(timeout >= 0 && timeout <= 1e9) {
      throw ValidationError("--timeout \(timeout): use seconds, 0 or more")
    }
  }

  /// The deadline that `--timeout` sets.
  var deadline: Deadline { timeout.map { .after(.seconds($0)) } ?? .never }

  /// Takes one event after the other until `--count` is reached.
  /// - Parameters:
  ///   - readable: a descriptor that is readable when an event may be available.
  ///   - takeNext: takes and prints the next event; false if none is available.
  /// - Returns: the number taken if the deadline passed before the count was reached, else nil.
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
        // A constant flow of events must not run past the deadline.
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
