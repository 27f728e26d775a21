import Foundation
import Platform

/// Ends the whole test run with a message if a test hangs: a blocked test cannot be cancelled from
/// within. It is called off when its last reference goes; keep it with `withExtendedLifetime` or
/// ``withWatchdog(_:after:_:)``.
package final class Watchdog: Sendable {
  private let calledOff: StopSignal

  package init(_ what: String, after limit: Duration) throws {
    calledOff = try StopSignal()
    let deadline = Deadline.after(limit)
    try startThread(named: "watchdog") { [calledOff] in
      let ready = try? waitUntilReadable([calledOff.descriptorNumber], until: deadline)
      if ready == [true] { return }
      FileHandle.standardError.write(Data("watchdog: \(what) still ran after \(limit)\n".utf8))
      exit(1)
    }
  }

  deinit { calledOff.raise() }
}

/// Runs a test's body under a watchdog.
package func withWatchdog<Result>(
  _ what: String = #function, after limit: Duration = .seconds(300), _ body: () throws -> Result
) throws -> Result {
  let watchdog = try Watchdog(what, after: limit)
  return try withExtendedLifetime(watchdog) { try body() }
}
