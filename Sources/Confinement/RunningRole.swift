import Platform
import Synchronization

/// How a role's process ended, as its host tells apart.
package enum RoleEnding: Hashable, Sendable, CustomStringConvertible {
  case finished
  case failed(status: Int32)
  case killed(signal: Int32)
  /// It took more memory than its budget: it ended itself, or its host or the kernel killed it.
  case exceededMemory(budgetBytes: UInt64)

  package var description: String {
    switch self {
    case .finished: "finished"
    case .failed(let status): ChildStatus.exited(status).description
    case .killed(let signal): ChildStatus.killed(signal: signal).description
    case .exceededMemory(let bytes):
      "was ended, because it took more memory than its budget of \(bytes >> 20) MiB;"
        + " raise the budget, or send smaller or fewer frames"
    }
  }
}

/// A role's process that this one started. Unless it is left running, it is killed and waited for
/// when its last reference goes.
package final class RunningRole: Sendable {
  package let process: ChildProcess
  /// What was done to confine it, in order.
  package let measures: [Measure]
  private let memory: MemoryWatch?
  private let group: MemoryGroup?

  init(
    _ process: ChildProcess, measures: [Measure], memoryBytes: UInt64?, _ group: MemoryGroup?
  ) {
    self.process = process
    self.measures = measures
    self.group = group
    memory = memoryBytes.map { bytes in
      MemoryWatch(
        budgetBytes: bytes, of: process.processID, in: group?.path
      ) { [weak process] level in
        // Its own watch has ended it, with an error, if it has one.
        if level == .exceeded { process?.sendToGroup(signal: Signal.kill) }
      }
    }
  }

  package var processID: Int32 { process.processID }

  /// Readable once it has ended, for `poll(2)` loops.
  package var descriptorNumber: Int32 { process.descriptorNumber }

  /// How it ended, or nil while it runs.
  package var ending: RoleEnding? { process.status.map(ending) }

  /// Waits for its end.
  /// - Returns: nil when the deadline passed or `stop` was raised first.
  package func wait(until deadline: Deadline = .never, stop: StopSignal? = nil) -> RoleEnding? {
    process.wait(until: deadline, stop: stop).map(ending)
  }

  /// Asks it to end, and kills it and what it started if it has not by the deadline.
  @discardableResult
  package func stop(killAt deadline: Deadline = .after(.seconds(5))) -> RoleEnding {
    process.send(signal: Signal.terminate)
    if let ending = wait(until: deadline) { return ending }
    process.sendToGroup(signal: Signal.kill)
    return wait() ?? .killed(signal: Signal.kill)
  }

  /// Lets it go on when this process ends: nobody here kills it or waits for it any more.
  package func leaveRunning() { process.leaveRunning() }

  private func ending(_ status: ChildStatus) -> RoleEnding {
    switch (status, memory) {
    case (.exited(0), _): .finished
    case (.exited(ConfinedProcess.exceededStatus), let memory?):
      .exceededMemory(budgetBytes: memory.budgetBytes)
    case (.killed(Signal.kill), let memory?) where memory.isExceeded || group?.hasKilled == true:
      .exceededMemory(budgetBytes: memory.budgetBytes)
    case (.exited(let code), _): .failed(status: code)
    case (.killed(let signal), _): .killed(signal: signal)
    }
  }
}
