import Foundation
import Platform

/// Ends the whole test run with a message if a test hangs, because a blocked test cannot be
/// cancelled from within. It is cancelled when its last reference is released; keep it with
/// `withExtendedLifetime` or ``withWatchdog(_:after:_:)``.
package final class Watchdog: Sendable {
  private let cancelled: StopSignal

  package init(_ what: String, after limit: Duration) throws {
    cancelled = try StopSignal()
    let deadline = Deadline.after(limit)
    try startThread(named: "watchdog") { [cancelled] in
      let ready = try? waitUntilReadable([cancelled.descriptorNumber], until: deadline)
      if ready == [true] { return }
      FileHandle.standardError.write(Data("watchdog: \(what) still ran after \(limit)\n".utf8))
      exit(1)
    }
  }

  deinit { cancelled.raise() }
}

/// Runs a test's body under a watchdog.
package func withWatchdog<Result>(
  _ what: String = #function, after limit: Duration = .seconds(600), _ body: () throws -> Result
) throws -> Result {
  let watchdog = try Watchdog(what, after: limit)
  return try withExtendedLifetime(watchdog) { try body() }
}
