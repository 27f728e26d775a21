import Platform
import Synchronization

/// Starts role programs: each in its own process group, with only the given descriptors, and
/// confined as requested.
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

  /// What happens to a role when the process that started it ends, even by SIGKILL.
  package enum Bond: Sendable {
    /// The role is killed.
    case diesWithHost
    /// The role continues. A host that exits in order calls `RunningRole.leaveRunning`.
    case outlivesHost
  }

  /// Starts a program. Returns when it runs or has failed to start.
  /// - Parameters:
  ///   - program: `executable` must be a path; `hasOwnGroup` is ignored; at most 11 inherited.
  ///   - confinement: nil to start it with its user's rights.
  ///   - user: the user to run it as; nil for this process's.
  package func start(
    _ program: LaunchOptions, confinement: Confinement?, as user: UserAccount? = nil,
    bond: Bond = .diesWithHost
  ) throws(LaunchError) -> RunningRole {
    guard isExecutableFile(program.executable) else { throw .noProgram(program.executable) }
    var confinement = confinement
    // Only the file, because its directory may be somebody's home.
    confinement?.grants.append(.init(.run, program.executable))
    let group = confinement?.memoryBytes.flatMap { MemoryGroup(budgetBytes: $0) }
    if let group { confinement?.grants.append(.init(.read, group.path)) }
    let text = try ConfinementText(
      confinement, as: user,
      variables: program.environment.filter { $0.value != nil }.keys.sorted(),
      memoryGroup: group?.path, descriptorCount: program.inherited.count,
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
      program: program.executable,
      reason: (report.refusal ?? "framebus-confine \(status)") + (user.map(Self.needs) ?? ""))
  }

  /// Removes what killed hosts left behind, unless processes still use it.
  package static func removeLeftovers() { MemoryGroup.removeLeftovers() }

  /// What a role's user needs besides the host's rights.
  private static func needs(_ user: UserAccount) -> String {
    ", as \(userText(user.id)), who must be able to enter its directories and to execute it"
  }

  /// Options to start framebus-confine, which receives the request and the write end of the
  /// report's pipe as its last descriptors.
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

/// Starts a child on the shared event loop's thread, which lasts as long as the process, because
/// PR_SET_PDEATHSIG acts when the thread that started the child ends.
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
