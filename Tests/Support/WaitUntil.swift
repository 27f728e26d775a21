import Platform

/// Polls until a condition holds that no event announces. Fails after two minutes.
/// - Parameter what: description of the condition for the error, evaluated at that time.
package func waitUntil(
  _ what: @autoclosure () -> String, _ condition: () throws -> Bool
) throws {
  let deadline = Deadline.after(.seconds(120))
  while try !condition() {
    if deadline.isPast { throw HarnessError("waited two minutes until \(what())") }
    sleep(until: .after(.milliseconds(1)))
  }
}
