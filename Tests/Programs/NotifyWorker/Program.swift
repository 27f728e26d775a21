import AppGroup
import NotifyCenter
import Platform
import Synchronization
import WorkerSupport

/// A member of a group that a test can kill: `NotifyWorker WORK ROOT GROUP NAME key=value…`. It
/// reports on standard output, line by line.
///
/// `killAt=STEP` kills it by SIGKILL at a step, `nth=N` at the N-th time it reaches the step.
/// `recheckMs` is how often observers poll without a ring.
@main
struct Program {
  static func main() { runWorker(run) }

  private static func run() throws {
    let arguments = CommandLine.arguments
    guard arguments.count >= 5 else { fatalError("usage: NotifyWorker WORK ROOT GROUP NAME …") }
    let settings = Settings(arguments.dropFirst(5))
    let group = try AppGroup.open(GroupID(arguments[3]), root: arguments[2])
    let name = try NotificationName(arguments[4])
    let center = try NotifyCenter(
      group, role: group.ownRoles[0], isSystem: settings.number("system", 0) == 1,
      recheckInterval: settings.recheckInterval,
      onStep: killing(
        at: NotifyStep(rawValue: settings.number("killAt", 0)), nth: settings.number("nth", 1)))
    switch arguments[1] {
    case "post": try post(center, name, settings)
    case "observe": try observe(center, name, settings)
    case "crowd": try crowd(group, name, settings)
    case "names": try manyNames(center, name, settings)
    case "echo": try echo(center, name, settings)
    case "churn": try churn(center, name)
    case "state": try state(center, name, settings)
    case "list":
      for entry in try center.list() {
        say("\(entry.name) \(entry.generation), \(entry.observers.count) observers")
      }
    default: fatalError("no work \(arguments[1])")
    }
  }
}

/// Settings: `count`, `pauseUs` after each `pauseEvery` posts, `hold` (1: stay when done).
private func post(_ center: NotifyCenter, _ name: NotificationName, _ settings: Settings) throws {
  let poster = try center.poster(of: name)
  let pause = settings.number("pauseUs", 0)
  let pauseEvery = settings.number("pauseEvery", 1)
  say("ready")
  var generation: UInt64 = 0
  for count in 1...settings.number("count", 1) {
    generation = try poster.post()
    if pause > 0, count.isMultiple(of: pauseEvery) { sleep(until: .after(.microseconds(pause))) }
  }
  say("posted \(generation)")
  if settings.number("hold", 0) == 1 { sleep(until: .never) }
}

/// Prints each delivery; with `until` only the end, when that generation was delivered, and the
/// number of deliveries.
/// Settings: `until`, `registrations` (of the one name), `hold` (1: stay when done).
private func observe(
  _ center: NotifyCenter, _ name: NotificationName, _ settings: Settings
) throws {
  let until = UInt64(settings.number("until", 0))
  let count = settings.number("registrations", 1)
  let reached = Tally()
  let deliveries = Atomic<Int>(0)
  var observations: [Observation] = []
  for _ in 0..<count {
    let sum = Mutex<UInt64?>(nil)
    let hasReached = Flag()
    observations.append(
      try center.observe(name) { delivery in
        let isExact = sum.withLock { sum in
          // Deliveries add up: no post is repeated or left out.
          let before = sum ?? delivery.generation &- delivery.coalesced
          sum = delivery.generation
          return delivery.isReset || before &+ delivery.coalesced == delivery.generation
        }
        if !isExact { say("wrong \(delivery)") }
        // Relaxed: `reached` orders it before it is read.
        deliveries.add(1, ordering: .relaxed)
        if until == 0 {
          say(line(delivery))
        } else if delivery.generation >= until, hasReached.raise() {
          reached.add()
        }
      })
    // An observer that begins after all posts receives none.
    if until != 0, try center.generation(of: name) >= until, hasReached.raise() { reached.add() }
  }
  say("ready")
  if until == 0 { sleep(until: .never) }
  reached.wait(for: count)
  withExtendedLifetime(observations) {}
  // Relaxed: as above.
  say("deliveries \(deliveries.load(ordering: .relaxed))")
  say("done \(try center.generation(of: name))")
  if settings.number("hold", 0) == 1 { sleep(until: .never) }
}

private final class Flag: Sendable {
  private let isRaised = Atomic<Bool>(false)

  /// - Returns: whether this call raised it.
  func raise() -> Bool { !isRaised.exchange(true, ordering: .acquiringAndReleasing) }
}

private func line(_ delivery: Delivery) -> String {
  let poster = delivery.poster.map { "by \($0.pid) \($0.uid)" } ?? "by nobody"
  let reset = delivery.isReset ? " reset" : ""
  return
    "delivery \(delivery.generation) of \(delivery.coalesced) state \(delivery.state) \(poster)"
    + reset
}

/// Many centers, each an observer of its own. Settings: `centers`, `until`.
private func crowd(_ group: AppGroup, _ name: NotificationName, _ settings: Settings) throws {
  let until = UInt64(settings.number("until", 1))
  let reached = Tally()
  let count = settings.number("centers", 1)
  var kept: [(NotifyCenter, Observation)] = []
  for _ in 0..<count {
    let center = try NotifyCenter(
      group, role: group.ownRoles[0], isSystem: false, recheckInterval: settings.recheckInterval)
    let observation = try center.observe(name) {
      if $0.generation >= until { reached.add() }
    }
    kept.append((center, observation))
  }
  say("ready")
  reached.wait(for: count)
  say("done")
  withExtendedLifetime(kept) {}
}

/// Observes NAME.0, NAME.1 … and reports when all have been posted. Settings: `count`.
private func manyNames(
  _ center: NotifyCenter, _ name: NotificationName, _ settings: Settings
) throws {
  let count = settings.number("count", 10_000)
  let reached = Tally()
  let observations = try (0..<count).map { number in
    try center.observe(NotificationName("\(name).\(number)")) { _ in reached.add() }
  }
  say("ready")
  reached.wait(for: count)
  say("done")
  withExtendedLifetime(observations) {}
}

/// Posts NAME.back from the closure that observes NAME, and cancels itself after `count` times.
private func echo(_ center: NotifyCenter, _ name: NotificationName, _ settings: Settings) throws {
  let back = try NotificationName("\(name).back")
  let last = UInt64(settings.number("count", 1))
  let own = Mutex<Observation?>(nil)
  let done = Tally()
  let observation = try center.observe(name) { delivery in
    do {
      let generation = try center.post(back)
      guard generation >= last else { return }
      own.withLock { $0 }?.cancel()
      done.add()
    } catch {
      say("error \(error)")
    }
  }
  own.withLock { $0 = observation }
  say("ready")
  done.wait(for: 1)
  say("done")
}

/// Observes and cancels without end.
private func churn(_ center: NotifyCenter, _ name: NotificationName) throws {
  say("ready")
  while true {
    let calls = Mutex<Bool>(false)
    do {
      let observation = try center.observe(name) { _ in
        if calls.withLock({ $0 }) { say("called after cancel") }
      }
      _ = observation.check()
      observation.cancel()
    }
    calls.withLock { $0 = true }
  }
}

/// Prints the state, or sets it. Settings: `set`.
private func state(_ center: NotifyCenter, _ name: NotificationName, _ settings: Settings) throws {
  let value = settings.number("set", -1)
  if value >= 0 { try center.setState(UInt64(value), of: name) }
  say("state \(try center.state(of: name))")
}

extension Settings {
  /// Observers wait only for their doorbell, unless the test sets `recheckMs`.
  fileprivate var recheckInterval: Duration { .milliseconds(number("recheckMs", 3_600_000)) }
}
