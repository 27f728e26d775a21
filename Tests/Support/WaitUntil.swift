import Foundation
import Platform

/// Multiplies the harness's timeouts on a slow machine: `FRAMEBUS_TIMEOUT_FACTOR`, else 1.
let timeoutFactor =
  ProcessInfo.processInfo.environment["FRAMEBUS_TIMEOUT_FACTOR"].flatMap { Int($0) } ?? 1

/// Polls until a condition holds that no event announces. Fails after two minutes.
/// - Parameter what: description of the condition for the error, evaluated at that time.
package func waitUntil(
  _ what: @autoclosure () -> String, _ condition: () throws -> Bool
) throws {
  let deadline = Deadline.after(.seconds(120) * timeoutFactor)
  var pause = Duration.milliseconds(1)
  while true {
    let beginning = monotonicNowNs()
    if try condition() { return }
    if deadline.isPast { throw HarnessError("waited \(2 * timeoutFactor) minutes until \(what())") }
    // Three times what it took: a condition that starts a program leaves the processor to others.
    let cost = Duration.nanoseconds(monotonicNowNs() - beginning)
    sleep(until: .after(max(pause, min(cost * 3, .milliseconds(300)))))
    pause = min(pause * 2, .milliseconds(16))
  }
}
