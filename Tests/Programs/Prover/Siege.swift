import FrameBus
import Platform
import TestSupport
import WorkerSupport

/// Hostile members (`HostileMember`) attack a stream, one kind after the other and then all at
/// once. The publisher continues, honest subscribers receive complete frames and account for every
/// one, and nothing of the hostile members remains after they end.
///
/// Settings: `seconds` (of each kind).
struct Siege {
  private let duration: Duration
  private let seed = TestSeed(for: "SiegeTests")

  private static let kinds = [
    "scribble", "chatter", "mute", "park", "steal", "breed", "hoard",
    "punch", "alarm",
  ]

  init(_ settings: Settings) { duration = .seconds(settings.number("seconds", 2)) }

  func run() throws {
    var generator = seed.generator
    let world = try ProofWorld()
    let publisher = try world.start(
      "publish", ["role=keepLatest", "intervalUs=500", "changeEvery=500", "growths=3"])
    try publisher.waitForOutput("publishing")
    let honest = try [Role.latest, .keepLatest].map { role in
      try world.start("subscribe", ["role=\(role)"])
    }
    for subscriber in honest { try subscriber.waitForOutput("attached") }
    let facts = ProcessFacts(publisher.processID)
    // Until the last larger picture was published.
    try waitUntil("the stream has grown") { try world.cursor() > 4000 }
    let before = try Resources.settled(of: facts)

    for kinds in Self.kinds.map({ [$0] }) + [Self.kinds] {
      let hostile = try kinds.map { kind in
        let seed = UInt64.random(in: 1...(.max), using: &generator)
        return try RunningProgram("HostileMember", [kind, world.socketPath, "\(seed)"])
      }
      let counts = try honest.indices.map { try world.received(by: honest[$0].processID) }
      sleep(until: .after(duration))
      try waitUntil("the honest have received more under \(kinds)") {
        try honest.indices.allSatisfy {
          try world.received(by: honest[$0].processID) > counts[$0] + 100
        }
      }
      for program in [publisher] + honest {
        guard let status = program.process.status else { continue }
        throw ProofError("under \(kinds) `\(program.name)` \(status)\n\(program.transcript)")
      }
      for program in hostile { _ = try program.end(with: Signal.kill) }
      try expect(before, of: facts, after: "\(kinds)")
      say("withstood \(kinds.joined(separator: ", "))")
    }
    try settle(publisher, honest)
  }

  private func settle(_ publisher: RunningProgram, _ honest: [RunningProgram]) throws {
    let ended = try publisher.end(with: Signal.terminate)
    let published = try number(after: "published", in: ended.output)
    for subscriber in honest {
      let result = try subscriber.finish()
      guard result.status.isSuccess, try number(after: "last", in: result.output) == published
      else { throw ProofError("\(published) published; an honest one: \(subscriber.transcript)") }
    }
  }
}

extension ProofWorld {
  private func status() throws -> StreamStatus? {
    try listStreams(in: group, timeout: .seconds(60)).first { $0.name == stream }
  }

  /// The newest frame, as the publisher's control plane says.
  fileprivate func cursor() throws -> UInt64 { try status()?.cursor ?? 0 }

  /// How many frames a process received, as its publisher sees it.
  fileprivate func received(by processID: Int32) throws -> UInt64 {
    try status()?.subscribers.first { $0.pid == processID }?.received ?? 0
  }
}
