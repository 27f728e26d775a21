import Platform
import Synchronization

/// How a role's process ended.
package enum RoleEnding: Hashable, Sendable, CustomStringConvertible {
  case finished
  case failed(status: Int32)
  case killed(signal: Int32)
  /// The process exceeded its memory budget: it exited, or its host or the kernel killed it.
  case exceededMemory(budgetBytes: UInt64)

  package var description: String {
    switch self {
    case .finished: "finished"
    case .failed(let status): ChildStatus.exited(status).description
    case .killed(let signal): ChildStatus.killed(signal: signal).description
    case .exceededMemory(let bytes):
      "was ended, because it exceeded its memory budget of \(bytes >> 20) MiB;"
        + " raise the budget, or send smaller or fewer frames"
    }
  }
}

/// A role's process that this process started. Releasing the last reference kills it and waits for
/// it, unless it is left running.
package final class RunningRole: Sendable {
  package let process: ChildProcess
  /// The measures that confine it, in order; none for an unconfined role.
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
        // Only if its own watch has not ended it with an error.
        if level == .exceeded { process?.sendToGroup(signal: Signal.kill) }
      }
    }
  }

  /// A role that was started without a ``Launcher``.
  package convenience init(unconfined process: ChildProcess) {
    self.init(process, measures: [], memoryBytes: nil, nil)
  }

  package var processID: Int32 { process.processID }

  /// Readable once the process has ended, for `poll(2)` loops.
  package var descriptorNumber: Int32 { process.descriptorNumber }

  /// How the process ended; nil while it runs.
  package var ending: RoleEnding? { process.status.map(ending) }

  /// Waits for the process to end.
  /// - Returns: nil if the deadline passed or `stop` was raised first.
  package func wait(until deadline: Deadline = .never, stop: StopSignal? = nil) -> RoleEnding? {
    process.wait(until: deadline, stop: stop).map(ending)
  }

  /// Sends SIGTERM. After the deadline, kills the process and its children.
  @discardableResult
  package func stop(killAt deadline: Deadline = .after(.seconds(5))) -> RoleEnding {
    process.send(signal: Signal.terminate)
    if let ending = wait(until: deadline) { return ending }
    process.sendToGroup(signal: Signal.kill)
    return wait() ?? .killed(signal: Signal.kill)
  }

  /// Leaves the role running when this process exits: it is not killed or waited for any more.
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
