import Platform
import Synchronization

// The common part of the programs that tests start and kill: settings, messages, and the points at
// which they die. Without Foundation, so that they start quickly.

/// The `key=value` arguments of a command line.
package struct Settings {
  private var values: [String: String] = [:]

  package init(_ arguments: ArraySlice<String>) {
    for argument in arguments {
      let parts = argument.split(separator: "=", maxSplits: 1)
      if parts.count == 2 { values[String(parts[0])] = String(parts[1]) }
    }
  }

  package subscript(key: String) -> String? { values[key] }

  package func number(_ key: String, _ fallback: Int) -> Int {
    values[key].flatMap { Int($0) } ?? fallback
  }

  package func text(_ key: String, _ fallback: String) -> String { values[key] ?? fallback }
}

/// Prints a line on standard output.
package func say(_ line: String) { try? writeFully(Array((line + "\n").utf8), to: 1) }

/// Runs a worker's body; an error is printed, and the exit status is 1.
package func runWorker(_ body: () throws -> Void) {
  do { try body() } catch {
    say("error \(error)")
    exitProcess(1)
  }
}

/// Makes a process kill itself with SIGKILL when it reaches a step the `nth` time, after it has
/// printed so.
/// - Returns: the closure to call at each step; nil if `step` is nil.
package func killing<Step: Equatable & Sendable>(
  at step: Step?, nth: Int
) -> (@Sendable (Step) -> Void)? {
  guard let step else { return nil }
  let reached = Mutex(0)
  let selfWatch = ProcessWatch(currentProcessID())
  return { now in
    guard now == step else { return }
    let times = reached.withLock {
      $0 += 1
      return $0
    }
    guard times == nth else { return }
    say("killed at \(now)")
    selfWatch?.send(signal: Signal.kill)
    sleep(until: .never)
  }
}

/// A counter that many threads increment and one waits for.
package final class Tally: Sendable {
  private let reached = PrivateFutexWord()

  package init() {}

  package func add() {
    reached.increment()
    reached.wakeAll()
  }

  /// Blocks the thread until the count is reached.
  package func wait(for count: Int) {
    while true {
      let seen = reached.load()
      if seen >= UInt32(count) { return }
      // SAFETY: waits only on a word of this object.
      unsafe sleepOnFutexes(shared: nil, expecting: 0, privates: (reached, seen), until: .never)
    }
  }
}
