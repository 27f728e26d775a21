import Foundation

/// The seed of a randomised test: from FRAMEBUS_SEED, otherwise random. It is printed at the start
/// with the command that replays the run.
package struct TestSeed: Sendable, CustomStringConvertible {
  package let value: UInt64
  /// The command that repeats this run: pass it to `#expect` as its comment.
  package let replay: String

  /// - Parameter test: the test's name for `swift test --filter`.
  package init(for test: String) {
    let given = ProcessInfo.processInfo.environment["FRAMEBUS_SEED"].flatMap { UInt64($0) }
    value = given ?? UInt64.random(in: 1...(.max))
    replay = "FRAMEBUS_SEED=\(value) swift test --filter '\(test)'"
    print("seed \(value) for \(test); replay: \(replay)")
    // Flushed at once, so that a run that hangs has printed it.
    fflush(nil)
  }

  package var description: String { "seed \(value); replay: \(replay)" }

  package var generator: SeededGenerator { SeededGenerator(seed: value) }
}

/// SplitMix64 (Steele, Lea and Flood, 2014): small, and identical on every machine.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
