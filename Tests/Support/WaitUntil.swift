import Platform

/// Polls until a condition holds that no event announces. Fails after a minute.
/// - Parameter what: description of the condition for the error, evaluated at that time.
package func waitUntil(
  _ what: @autoclosure () -> String, _ condition: () throws -> Bool
) throws {
  let deadline = Deadline.after(.seconds(60))
  while try !condition() {
    if deadline.isPast { throw HarnessError("waited a minute until \(what())") }
    sleep(until: .after(.milliseconds(1)))
  }
}
