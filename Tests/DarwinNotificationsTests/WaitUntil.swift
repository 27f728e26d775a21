import Platform
import TestSupport

/// Looks again and again until a condition holds; a watchdog's deadline ends it.
func waitUntil(_ what: String, _ condition: () throws -> Bool) throws {
  let deadline = Deadline.after(.seconds(60))
  while try !condition() {
    if deadline.isPast { throw HarnessError("watchdog: never \(what)") }
    sleep(until: .after(.milliseconds(1)))
  }
}
