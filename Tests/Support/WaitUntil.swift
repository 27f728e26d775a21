import Platform

/// Looks again and again until a condition holds that nothing announces. Fails after a minute.
/// - Parameter what: for the error; asked for then.
package func waitUntil(
  _ what: @autoclosure () -> String, _ condition: () throws -> Bool
) throws {
  let deadline = Deadline.after(.seconds(60))
  while try !condition() {
    if deadline.isPast { throw HarnessError("waited a minute until \(what())") }
    sleep(until: .after(.milliseconds(1)))
  }
}

/// Waits until nothing lies in /dev/shm that was not there before. Other programs come and go
/// there.
package func waitUntilNothingIsLeft(since before: Set<String>) throws {
  try waitUntil("nothing new is left in /dev/shm") {
    try sharedMemoryEntries().isSubset(of: before)
  }
}
