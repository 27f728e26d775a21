import AppGroup
import Platform
import SharedLog
import WorkerSupport

/// A member of a group that logs, and that a test can kill: `LogWorker WORK ROOT GROUP key=value…`.
/// It reports on standard output, line by line.
@main
struct Program {
  static func main() { runWorker(run) }

  private static func run() throws {
    let arguments = CommandLine.arguments
    guard arguments.count >= 4 else { fatalError("usage: LogWorker WORK ROOT GROUP …") }
    let settings = Settings(arguments.dropFirst(4))
    let group = try AppGroup.open(GroupID(arguments[3]), root: arguments[2])
    var options = LogOptions()
    options.minimumLevel = .trace
    options.segmentBytes = settings.number("segmentBytes", options.segmentBytes)
    options.rotateBytes = settings.number("rotateBytes", options.rotateBytes)
    options.quotaBytes = settings.number("quotaBytes", options.quotaBytes)
    options.session = settings["session"]
    if settings.number("wait", 0) == 1 { options.overflow = .wait(atMost: .seconds(3600)) }
    let role = Role(rawValue: settings.text("role", group.ownRoles[0].rawValue)) ?? .host
    let log = try SharedLog.open(group, role: role, options: options)
    switch arguments[1] {
    case "write": try write(log, settings)
    case "threads": try threads(log, settings)
    case "die": die(log, settings)
    default: fatalError("no work \(arguments[1])")
    }
  }
}

/// Writes `count` lines, and reports the number after each `sayEvery`. Settings: `pad` bytes,
/// `hold` (1: stay), `close` (0: exit without closing).
private func write(_ log: SharedLog, _ settings: Settings) throws {
  say("run \(log.runName)")
  let padding = String(repeating: "x", count: settings.number("pad", 0))
  let every = settings.number("sayEvery", 0)
  let count = settings.number("count", 1)
  for number in 1...max(1, count) where count > 0 {
    log.append(.info, "line \(number) \(padding)", label: "worker")
    if every > 0, number.isMultiple(of: every) { say("wrote \(number)") }
  }
  say("done")
  if settings.number("hold", 0) == 1 { sleep(until: .never) }
  if settings.number("close", 1) == 1 { try log.close() }
  say("closed")
}

/// `threads` threads write `count` lines each at once.
private func threads(_ log: SharedLog, _ settings: Settings) throws {
  let done = Tally()
  let count = settings.number("count", 1)
  for thread in 0..<settings.number("threads", 2) {
    try startThread(named: "writer") {
      for number in 1...count { log.append(.info, "thread \(thread) line \(number)") }
      done.add()
    }
  }
  done.wait(for: settings.number("threads", 2))
  try log.close()
  say("closed")
}

/// Writes a line and dies `by` kill, abort or trap at once, or by taking memory until the kernel
/// kills it.
private func die(_ log: SharedLog, _ settings: Settings) {
  log.append(.error, "last words")
  switch settings.text("by", "kill") {
  case "kill": Signal.sendToSelf(Signal.kill)
  case "abort": Signal.abort()
  case "memory":
    var taken: [[UInt8]] = []
    while true { taken.append([UInt8](repeating: 1, count: 1 << 20)) }
  default: fatalError("a trap")
  }
}
