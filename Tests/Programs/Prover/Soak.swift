import FrameBus
import Platform
import TestSupport
import WorkerSupport

/// Repeatedly kills, stops and continues publishers and subscribers at random. No process exits by
/// itself meanwhile, no frame is torn, and in the end every subscriber's counts match the number of
/// published frames.
///
/// Settings: `seconds`.
struct Soak {
  private let end: Deadline
  private let seed = TestSeed(for: "SoakTests")

  init(_ settings: Settings) { end = .after(.seconds(settings.number("seconds", 60))) }

  func run() throws {
    var generator = seed.generator
    let world = try ProofWorld()
    let casts = try Role.complete.map { try Cast(world, $0) }
    let actors = casts.flatMap(\.actors)
    var kills = 0
    var stops = 0
    while !end.isPast {
      guard let actor = actors.randomElement(using: &generator) else { break }
      try actor.checkThatItRuns()
      if Bool.random(using: &generator) {
        kills += 1
        try actor.kill()
        sleep(until: .after(.microseconds(Int.random(in: 0...20_000, using: &generator))))
        try actor.start()
      } else if !actor.isStopped {
        stops += 1
        actor.stop(for: .milliseconds(Int.random(in: 0...300, using: &generator)))
      }
      sleep(until: .after(.microseconds(Int.random(in: 0...30_000, using: &generator))))
      for actor in actors { actor.continueIfDue() }
    }
    for actor in actors { actor.continueNow() }
    var received = 0
    for cast in casts { received += try cast.settle() }
    say("\(kills) kills, \(stops) stops, \(received) frames of the last generation, 0 torn")
  }
}

/// One stream's publisher and subscribers.
private struct Cast {
  private let world: ProofWorld
  private let role: Role
  private let publisher: Actor
  private let subscribers: [Actor]

  var actors: [Actor] { [publisher] + subscribers }

  init(_ other: ProofWorld, _ role: Role) throws {
    self.role = role
    world = try ProofWorld(rootPath: other.rootPath, stream: role.rawValue.lowercased())
    publisher = try Actor(
      world, "publish",
      ["role=\(role)", "intervalUs=300", "changeEvery=400", "growths=3", "stallMs=100"])
    // One that keeps up and a slow one; where a slow one is impossible, one of another policy.
    subscribers = [
      try Actor(world, "subscribe", ["role=\(role)"]),
      try Actor(world, "subscribe", ["role=latest", "delayUs=5000"]),
      try Actor(world, "subscribe", ["role=keepLatest", "delayUs=\(role == .latest ? 1000 : 0)"]),
    ]
  }

  /// Ends the stream, and compares what both sides say.
  /// - Returns: frames received of the last generation.
  func settle() throws -> Int {
    for actor in actors { try actor.checkThatItRuns() }
    try waitUntil("every subscriber of \(role) receives") {
      let stream = try listStreams(in: world.group).first { $0.name == world.stream }
      let rows = stream?.subscribers ?? []
      return rows.count == subscribers.count && rows.allSatisfy { $0.received > 0 }
    }
    let published = try number(after: "published", in: publisher.end(with: Signal.terminate))
    var received = 0
    for subscriber in subscribers {
      let result = try subscriber.end(with: nil)
      let last = try number(after: "last", in: result)
      guard last == published else {
        throw ProofError("\(published) published, but a subscriber ends at \(last): \(result)")
      }
      received += try number(after: "received", in: result)
    }
    return received
  }
}

/// A role that one process after another takes.
private final class Actor {
  private let world: ProofWorld
  private let part: String
  private let settings: [String]
  private var program: RunningProgram
  private var continuesAt: Deadline?

  init(_ world: ProofWorld, _ part: String, _ settings: [String]) throws {
    self.world = world
    self.part = part
    self.settings = settings
    program = try world.start(part, settings)
  }

  var isStopped: Bool { continuesAt != nil }

  /// - Throws: if the process exited early, which means that it found an error.
  func checkThatItRuns() throws(ProofError) {
    guard let status = program.process.status else { return }
    throw ProofError("`\(program.name)` \(status)\n\(program.transcript)")
  }

  func kill() throws {
    continuesAt = nil
    let result = try program.end(with: Signal.kill)
    guard result.status == .killed(signal: Signal.kill) else {
      throw ProofError("`\(program.name)` \(result.status)\n\(program.transcript)")
    }
  }

  func start() throws { program = try world.start(part, settings) }

  func stop(for duration: Duration) {
    program.process.send(signal: Signal.stop)
    continuesAt = .after(duration)
  }

  func continueIfDue() { if let continuesAt, continuesAt.isPast { continueNow() } }

  func continueNow() {
    program.process.send(signal: Signal.continue)
    continuesAt = nil
  }

  /// Sends the signal to stop, and waits for the exit.
  /// - Returns: its output.
  func end(with signal: Int32?) throws -> String {
    if let signal { program.process.send(signal: signal) }
    let result = try program.finish()
    guard result.status.isSuccess else {
      throw ProofError("`\(program.name)` \(result.status)\n\(program.transcript)")
    }
    return result.output
  }
}
