import FrameBus
import TestSupport
import Testing

// Each test runs a part of Prover in a separate process, where nothing else opens descriptors or
// starts threads. scripts/soak runs the same for longer.

/// A process of the bus is killed at each of its crash points without harm to the others: every
/// frame is complete, every slot and descriptor is free again, every frame is accounted for.
@Suite(
  .enabled(
    if: crashPointsAreCompiled, "built without crash points: swift test --traits CrashPoints"))
struct CrashTests {
  @Test func deathAtAnyCrashPointHarmsNoOtherProcess() throws {
    let output = try prove("crash", "passes=1", within: .seconds(900))
    #expect(output.contains("died at each of \(CrashPoint.allCases.count) points"))
  }
}

@Suite struct SoakTests {
  @Test func randomKillsAndStopsTearNoFrame() throws {
    #expect(try prove("soak", "seconds=15").contains("0 torn"))
  }
}

@Suite struct SiegeTests {
  @Test func hostileMembersHarmNoOther() throws {
    #expect(try prove("siege", "seconds=1").contains("withstood scribble, "))
  }
}

@Suite struct CycleTests {
  @Test func nothingIsLeftOfFiveHundredKilledSubscribers() throws {
    #expect(try prove("cycles", "count=500").contains("500 subscribers killed"))
  }
}

/// Prover's output on success.
private func prove(_ arguments: String..., within limit: Duration = .seconds(300)) throws -> String
{
  let result = try run("Prover", arguments, within: limit)
  #expect(result.status == .exited(0), "\(result.output)\(result.errors)")
  return result.output
}
