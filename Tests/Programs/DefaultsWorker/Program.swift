import AppGroup
import Platform
import SharedDefaults
import WorkerSupport

/// A member of a group that a test can stop and kill: `DefaultsWorker ROLE ROOT GROUP key=value…`.
/// It reports its actions on standard output, one per line.
///
/// Observers poll every `recheckMs`; the default is practically never. With `killAt=STEP` it kills
/// itself with SIGKILL at a step, with `nth=N` at the N-th time; with `stopAt=STEP` it sleeps there
/// instead.
@main
struct Program {
  static let suiteName = "suite"

  static func main() { runWorker(run) }

  private static func run() throws {
    let arguments = CommandLine.arguments
    guard arguments.count >= 4 else { fatalError("usage: DefaultsWorker ROLE ROOT GROUP …") }
    let settings = Settings(arguments.dropFirst(4))
    let group = try AppGroup.open(GroupID(arguments[3]), root: arguments[2])
    let defaults = try SharedDefaults(
      suiteName: suiteName, in: group,
      recheckInterval: .milliseconds(settings.number("recheckMs", 3_600_000)),
      onStep: step(settings))
    switch arguments[1] {
    case "set": try set(defaults, settings)
    case "write": try write(defaults, settings)
    case "pair": try writePairs(defaults)
    case "replace": try replace(defaults, settings)
    case "readPairs": try readPairs(defaults)
    case "watch": try watch(defaults, settings)
    case "values": try values(defaults, settings)
    default: fatalError("no role \(arguments[1])")
    }
  }

  private static func step(_ settings: Settings) -> OnDefaultsStep {
    if let stop = DefaultsStep(rawValue: settings.number("stopAt", 0)) {
      return { now in
        guard now == stop else { return }
        say("stopped at \(now)")
        sleep(until: .never)
      }
    }
    return killing(
      at: DefaultsStep(rawValue: settings.number("killAt", 0)), nth: settings.number("nth", 1))
  }
}

/// Settings: `key`, `value`, `bytes` (length of an additional filler).
private func set(_ defaults: SharedDefaults, _ settings: Settings) throws {
  let value = settings.text("value", "new")
  let filler = String(repeating: ".", count: settings.number("bytes", 0))
  try defaults.update {
    $0[settings.text("key", "key")] = .string(value)
    $0["twin"] = .string(value)
    if !filler.isEmpty { $0["filler"] = .string(value + filler) }
  }
  say("set")
}

/// Sets its own key and a shared key and increments a shared total, `count` times.
/// Settings: `id`, `count`.
private func write(_ defaults: SharedDefaults, _ settings: Settings) throws {
  let id = settings.number("id", 0)
  for number in 1...settings.number("count", 1) {
    try defaults.update(within: .seconds(100)) { draft in
      guard case .integer(let total) = draft["total"] ?? 0 else { return }
      draft["total"] = .integer(total + 1)
      draft["own\(id)"] = .integer(number)
      draft["last"] = .string("\(id) \(number)")
    }
    if number.isMultiple(of: 100) { say("wrote \(number)") }
  }
  say("done")
}

/// Sets two keys to the same number repeatedly until it is killed.
private func writePairs(_ defaults: SharedDefaults) throws {
  var number = defaults.integer(forKey: "left")
  while true {
    number += 1
    try defaults.update {
      $0["left"] = .integer(number)
      $0["right"] = .integer(number)
    }
    if number.isMultiple(of: 1000) { say("wrote") }
  }
}

/// Sets a key to a value too long for a journal, repeatedly, until it is killed: each time another
/// file replaces the suite's. Settings: `removes` (whether it removes each suite).
private func replace(_ defaults: SharedDefaults, _ settings: Settings) throws {
  var number = 0
  while true {
    number += 1
    let letter = number.isMultiple(of: 2) ? "a" : "b"
    try defaults.set(String(repeating: letter, count: 100_000), forKey: "key")
    if number == 1 { say("replacing") }
    if settings.number("removes", 0) == 1 { try defaults.removeSuite() }
  }
}

/// Reads both keys repeatedly until it is killed, and reports a difference.
private func readPairs(_ defaults: SharedDefaults) throws {
  var last = 0
  var reads = 0
  while true {
    let values = defaults.dictionaryRepresentation()
    if values["left"] != values["right"] { say("half \(values)") }
    if case .integer(let number)? = values["left"] {
      if number < last { say("back from \(last) to \(number)") }
      last = number
    }
    reads += 1
    if reads.isMultiple(of: 20_000) { say("looked up to \(last)") }
  }
}

/// Prints each change that it receives. Settings: `key`, `busyMs` (duration of the closure).
private func watch(_ defaults: SharedDefaults, _ settings: Settings) throws {
  let busy = Duration.milliseconds(settings.number("busyMs", 0))
  let observation = try defaults.observe(settings["key"]) { change in
    sleep(until: .after(busy))
    say("\(change.key)=\(change.value.map { "\($0)" } ?? "none").")
  }
  say("watching")
  withExtendedLifetime(observation) { sleep(until: .never) }
}

/// Prints each value that a task receives. Settings: `key`.
private func values(_ defaults: SharedDefaults, _ settings: Settings) throws {
  let values = try defaults.values(forKey: settings.text("key", "key"))
  let end = Tally()
  Task {
    for await value in values {
      say("value \(value.map { "\($0)" } ?? "none").")
      if value == "end" { break }
    }
    say("ended")
    end.add()
  }
  end.wait(for: 1)
}
