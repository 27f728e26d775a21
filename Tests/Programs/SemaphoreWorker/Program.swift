import AppGroup
import GroupSemaphores
import Platform
import Synchronization
import WorkerSupport

/// A member of a group that a test can kill: `SemaphoreWorker ROLE ROOT GROUP NAME key=value…`. It
/// reports its progress on standard output, one line at a time.
///
/// `killAt=STEP` makes it kill itself with SIGKILL at a step, `nth=N` at the N-th time it reaches
/// it.
@main
struct Program {
  static func main() { runWorker(run) }

  private static func run() throws {
    let arguments = CommandLine.arguments
    guard arguments.count >= 5 else { fatalError("usage: SemaphoreWorker ROLE ROOT GROUP NAME …") }
    let settings = Settings(arguments.dropFirst(5))
    let group = try AppGroup.open(GroupID(arguments[3]), root: arguments[2])
    let name = try SemaphoreName(arguments[4])
    let onStep = killing(
      at: SemaphoreStep(rawValue: settings.number("killAt", 0)), nth: settings.number("nth", 1))
    if arguments[1] == "create" { return try create(name, group, settings, onStep) }
    let semaphore = try GroupSemaphore.open(name, in: group, onStep: onStep)
    switch arguments[1] {
    case "hold": try hold(semaphore, settings)
    case "post": try semaphore.post()
    case "value": say("value \(try semaphore.value())")
    case "work": try work(semaphore, settings)
    default: fatalError("unknown role \(arguments[1])")
    }
  }
}

/// Settings: `value`, `recover`.
private func create(
  _ name: SemaphoreName, _ group: AppGroup, _ settings: Settings, _ onStep: OnStep
) throws {
  let semaphore = try GroupSemaphore.create(
    name, in: group, initialValue: settings.number("value", 1),
    recoverable: settings.number("recover", 0) == 1, onStep: onStep)
  say("created \(semaphore.name)")
}

/// Acquires permits and keeps them. Settings: `count`, `timeoutMs`, `post` (how many to release).
private func hold(_ semaphore: GroupSemaphore, _ settings: Settings) throws {
  let deadline = Deadline.after(.milliseconds(settings.number("timeoutMs", 600_000)))
  say("waiting")
  for _ in 0..<settings.number("count", 1) {
    guard try semaphore.wait(until: deadline) == .taken else { return say("timed out") }
  }
  say("holding")
  let posts = settings.number("post", 0)
  for _ in 0..<posts { try semaphore.post() }
  if posts > 0 { say("posted") } else { sleep(until: .never) }
}

/// Acquires and posts as fast as possible, until it is killed. Settings: `seed`.
private func work(_ semaphore: GroupSemaphore, _ settings: Settings) throws {
  var seed = UInt64(settings.number("seed", 1))
  say("working")
  while true {
    seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    for _ in 0...(seed >> 40 & 1) {
      guard try semaphore.wait(until: .after(.milliseconds(20))) == .taken else { continue }
    }
    while semaphore.heldCount > 0 { try semaphore.post() }
  }
}
