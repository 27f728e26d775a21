import Foundation
import FrameBus
import TestSupport
import Testing

/// A process of the bus is killed at each of its crash points (`Prover crash`), and no other
/// suffers: every frame whole, every slot and descriptor back, every frame accounted for.
@Suite(
  .enabled(
    if: crashPointsAreCompiled, "built without crash points: swift test --traits CrashPoints"))
struct CrashTests {
  @Test func whoeverDiesAtAnyCrashPointHarmsNobodyElse() throws {
    let result = try run("Prover", ["crash"], within: .seconds(900))
    #expect(result.status == .exited(0), "\(result.output)\(result.errors)")
    #expect(result.output.contains("died at each of \(CrashPoint.allCases.count) points"))
  }
}
