import FrameBus
import TestSupport
import WorkerSupport

/// Kills a process at every crash point, on both sides of a stream, in every role, and checks all
/// other processes each time.
///
/// Settings: `side` (one of the sides below; all), `role` (all), `point` (all), `passes` (how
/// many passes of a point to die at, the first one always among them).
struct CrashProof {
  enum Side: String, CaseIterable {
    case publisher, subscriber
    /// A publisher that evicts subscribers that map no new pools, after some seconds.
    case evictor

    var roles: [Role] { self == .evictor ? [.latest] : Role.allCases }
    var points: [CrashPoint] {
      self == .evictor ? [.evictionShown, .seatEvicted, .evictionCounted] : CrashPoint.allCases
    }
  }

  private let sides: [Side]
  private let roles: [Role]
  private let points: [CrashPoint]
  private let passes: Int
  private let seed = TestSeed(for: "CrashTests")

  init(_ settings: Settings) throws {
    guard crashPointsAreCompiled else {
      throw ProofError("this build has no crash points: build with --traits CrashPoints")
    }
    sides = try settings.choice("side", of: Side.allCases)
    roles = try settings.choice("role", of: Role.allCases)
    points = try settings.choice("point", of: CrashPoint.allCases)
    passes = settings.number("passes", 2)
  }

  func run() throws {
    var generator = seed.generator
    var reached: Set<CrashPoint> = []
    var before: Resources?
    for side in sides {
      for role in roles where side.roles.contains(role) {
        let census = try CrashTrial(side: side, role: role, choice: nil).run().passes
        // That was the first trial, which created everything that a process creates once.
        let baseline = try before ?? .settled(of: .own)
        before = baseline
        var killed = 0
        for point in points where side.points.contains(point) && role.points.contains(point) {
          guard let count = census[point.rawValue] else { continue }
          for choice in choices(point, outOf: count, &generator) {
            let trial = CrashTrial(side: side, role: role, choice: choice)
            guard try wasKilled(in: trial, baseline) else { continue }
            killed += 1
            reached.insert(point)
          }
        }
        say("\(side) \(role): \(census.count) points passed, \(killed) kills, all accounts settled")
      }
    }
    let missed = try points.filter { point in
      try !reached.contains(point) && !isReachedAgain(point, before)
    }
    guard missed.isEmpty else { throw ProofError("nobody died at \(missed); \(seed)") }
    say("died at each of \(points.count) points")
  }

  private func wasKilled(in trial: CrashTrial, _ baseline: Resources) throws -> Bool {
    let result = try trial.run()
    try expect(baseline, of: .own, after: trial.description)
    return result.wasKilled
  }

  /// Tries a point again that no process passed in its trials. Only a race leads to some points,
  /// and a busy machine may decide the race otherwise each time.
  private func isReachedAgain(_ point: CrashPoint, _ baseline: Resources?) throws -> Bool {
    guard let baseline else { return false }
    for _ in 1...20 {
      for side in sides where side.points.contains(point) {
        for role in roles where side.roles.contains(role) && role.points.contains(point) {
          let choice = CrashChoice(point: point, pass: 1)
          let trial = CrashTrial(side: side, role: role, choice: choice)
          if try wasKilled(in: trial, baseline) { return true }
        }
      }
    }
    return false
  }

  /// The first pass, and random others: not the last ones, because runs differ.
  private func choices(
    _ point: CrashPoint, outOf count: Int, _ generator: inout SeededGenerator
  ) -> [CrashChoice] {
    let others = (1..<max(passes, 1)).map { _ in
      Int.random(in: 1...max(1, count / 2), using: &generator)
    }
    return Set([1] + others).sorted().map { CrashChoice(point: point, pass: $0) }
  }
}

extension Settings {
  /// The named one, or all.
  func choice<Choice: RawRepresentable<String>>(
    _ key: String, of all: [Choice]
  ) throws -> [Choice] {
    guard let text = self[key] else { return all }
    guard let choice = Choice(rawValue: text) else { throw ProofError("no \(key) “\(text)”") }
    return [choice]
  }
}
