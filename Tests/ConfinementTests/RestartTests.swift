import Confinement
import Testing

@Suite struct RestartTests {
  private var policy: RestartPolicy {
    var policy = RestartPolicy()
    policy.firstDelay = .seconds(1)
    policy.longestDelay = .seconds(5)
    policy.steadyRun = .seconds(60)
    policy.maximumFailures = 5
    return policy
  }

  @Test func eachFailureInARowWaitsTwiceAsLongUpToTheLongestDelayAndThenItIsEnough() {
    var history = RestartHistory(policy)
    let decisions = (1...6).map { _ in
      history.decide(after: .failed(status: 1), run: .seconds(2))
    }
    #expect(decisions.prefix(5) == [1, 2, 4, 5, 5].map { .restart(after: .seconds($0)) }[...])
    #expect(decisions.last == .giveUp(failures: 6))
  }

  @Test func aLongRunMakesUpForTheFailuresBeforeIt() {
    var history = RestartHistory(policy)
    for _ in 1...4 { _ = history.decide(after: .killed(signal: 9), run: .zero) }
    let decision = history.decide(after: .killed(signal: 9), run: .seconds(60))
    #expect(decision == .restart(after: .seconds(1)))
    #expect(history.failures == 1)
  }

  @Test func aRoleThatFinishedIsNotRestartedAndHasNoFailuresLeft() {
    var history = RestartHistory(policy)
    _ = history.decide(after: .exceededMemory(budgetBytes: 1), run: .zero)
    #expect(history.decide(after: .finished, run: .zero) == .finished)
    #expect(history.failures == 0)
  }
}
