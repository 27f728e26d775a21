import Platform
import Synchronization

/// Starts programs of roles: each with a process group of its own, with nothing open but what it
/// is given, and confined as asked.
package struct Launcher: Sendable {
  /// The path of framebus-confine.
  private let confiner: String

  package init() throws(LaunchError) {
    let name = "framebus-confine"
    guard let path = siblingProgram(named: name) ?? programInPath(named: name) else {
      throw .noConfiner
    }
    confiner = path
  }

  /// What becomes of a role when the process that started it ends, even by SIGKILL.
  package enum Bond: Sendable {
    /// It is killed.
    case diesWithHost
    /// It goes on. A host that ends in order calls `RunningRole.leaveRunning`.
    case outlivesHost
  }

  /// Starts a program, and returns once it runs or could not be started.
  /// - Parameters:
  ///   - program: its `executable` is a path; `hasOwnGroup` is set for it; at most 11 inherited.
  ///   - confinement: nil for a program that may do all that this one may.
  package func start(
    _ program: LaunchOptions, confinement: Confinement?, bond: Bond = .diesWithHost
  ) throws(LaunchError) -> RunningRole {
    guard isExecutableFile(program.executable) else { throw .noProgram(program.executable) }
    var confinement = confinement?.running(program.executable)
    let group = confinement?.memoryBytes.flatMap { MemoryGroup(budgetBytes: $0) }
    if let group { confinement?.grants.append(.init(.read, group.path)) }
    let text = try ConfinementText(
      confinement, memoryGroup: group?.path, descriptorCount: program.inherited.count,
      diesWithHost: bond == .diesWithHost)
    let process: ChildProcess
    let report: Report
    do throws(SystemError) {
      let request = try text.sealed()
      let pipe = try OneWayPipe()
      process = try startOnLastingThread(
        confining(program, request: request.number, report: pipe.writeEnd.number))
      report = try Report(reading: pipe.takeReadEnd())
    } catch {
      throw .system(error)
    }
    if report.hasStarted {
      return RunningRole(
        process, measures: report.measures, memoryBytes: confinement?.memoryBytes, group)
    }
    let status = process.end(with: Signal.kill)
    throw .refused(
      program: program.executable, reason: report.refusal ?? "framebus-confine \(status)")
  }

  /// Removes what hosts that were killed left behind, where nobody is in it any more.
  package static func removeLeftovers() { MemoryGroup.removeLeftovers() }

  /// What starts framebus-confine, which gets the request and the report's end as the last of its
  /// descriptors.
  private func confining(
    _ program: LaunchOptions, request: Int32, report: Int32
  ) -> LaunchOptions {
    var options = program
    let number = 3 + program.inherited.count
    options.inherited += [request, report]
    options.executable = confiner
    options.arguments = ["\(number)", "\(number + 1)", program.executable] + program.arguments
    options.hasOwnGroup = true
    return options
  }
}

/// The kernel takes the end of the thread that started a child for its parent's end
/// (PR_SET_PDEATHSIG); that of the shared loop lasts as long as the process.
private func startOnLastingThread(_ options: LaunchOptions) throws(SystemError) -> ChildProcess {
  let started = Started()
  try EventLoop.shared().performAndWait { started.start(options) }
  return try started.result()
}

private final class Started: Sendable {
  private let outcome = Mutex<Result<ChildProcess, SystemError>?>(nil)

  func start(_ options: LaunchOptions) {
    let result = Result { () throws(SystemError) in try ChildProcess(options) }
    outcome.withLock { $0 = result }
  }

  func result() throws(SystemError) -> ChildProcess {
    guard let result = outcome.withLock({ $0 }) else { preconditionFailure("nothing was started") }
    return try result.get()
  }
}
