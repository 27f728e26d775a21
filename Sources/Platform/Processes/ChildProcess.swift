import CLinuxShims
import Glibc
import Synchronization

/// How a process ended.
package enum ChildStatus: Hashable, Sendable, CustomStringConvertible {
  case exited(Int32)
  case killed(signal: Int32)

  package var isSuccess: Bool { self == .exited(0) }

  package var description: String {
    switch self {
    case .exited(let status): "exited with status \(status)"
    case .killed(let signal): "was ended by signal \(signal)"
    }
  }
}

/// A child process, for which only this object waits. It is addressed by its pidfd, so that a
/// signal can never reach another process with the same PID. A child that still runs when the last
/// reference is released is killed, so that it does not outlive its owner by accident.
package final class ChildProcess: Sendable {
  package let processID: Int32
  private let pidfd: Descriptor
  private let leadsGroup: Bool
  private let ended = Mutex<ChildStatus?>(nil)
  private let isLeft = Mutex(false)

  /// Starts the program (`posix_spawn(3)`).
  package init(_ options: LaunchOptions) throws(SystemError) {
    processID = try launch(options)
    let number = linux_pidfd_open(processID)
    guard number >= 0 else {
      let error = SystemError.last("pidfd_open")
      kill(processID, SIGKILL)
      _ = reap(processID)
      throw error
    }
    pidfd = Descriptor(owning: number)
    leadsGroup = options.hasOwnGroup
  }

  /// Readable once the process has ended, for `poll(2)` loops.
  package var descriptorNumber: Int32 { pidfd.number }

  /// How the process ended; nil while it runs.
  package var status: ChildStatus? { wait(until: .now) }

  /// Waits until the process ends.
  /// - Returns: nil when the deadline passed or `stop` was raised first.
  package func wait(until deadline: Deadline = .never, stop: StopSignal? = nil) -> ChildStatus? {
    if let status = ended.withLock({ $0 }) { return status }
    let watched = [pidfd.number] + (stop.map { [$0.descriptorNumber] } ?? [])
    guard let ready = try? waitUntilReadable(watched, until: deadline), ready[0] else {
      return nil
    }
    return ended.withLock { status in
      if status == nil { status = reap(processID) }
      return status
    }
  }

  /// Sends a signal, unless the process has ended.
  package func send(signal: Int32) { _ = linux_pidfd_send_signal(pidfd.number, signal) }

  /// Sends a signal to the group that the process leads, while it has not been waited for.
  package func sendToGroup(signal: Int32) {
    precondition(leadsGroup, "process \(processID) does not lead a process group")
    ended.withLock { status in
      if status == nil { _ = kill(-processID, signal) }
    }
  }

  /// Sends SIGTERM (or another signal), and kills the process if it runs until the deadline.
  @discardableResult
  package func end(
    with signal: Int32 = SIGTERM, killAt deadline: Deadline = .after(.seconds(5))
  ) -> ChildStatus {
    send(signal: signal)
    if let status = wait(until: deadline) { return status }
    send(signal: SIGKILL)
    return wait() ?? .killed(signal: SIGKILL)
  }

  /// Leaves the child running when the last reference is released: it is neither killed nor waited
  /// for. For a process that is about to exit, so that another one adopts its children.
  package func leaveRunning() { isLeft.withLock { $0 = true } }

  deinit {
    if isLeft.withLock({ $0 }) { return }
    if ended.withLock({ $0 }) == nil {
      _ = linux_pidfd_send_signal(pidfd.number, SIGKILL)
      _ = reap(processID)
    }
  }
}

/// Waits for a child for which nothing else waits, and decodes its status as in `wait(2)`.
private func reap(_ processID: Int32) -> ChildStatus {
  var status: Int32 = 0
  while unsafe waitpid(processID, &status, 0) < 0, errno == EINTR {}
  let signal = status & 0x7f
  return signal == 0 ? .exited((status >> 8) & 0xff) : .killed(signal: signal)
}

private func launch(_ options: LaunchOptions) throws(SystemError) -> Int32 {
  let null = Descriptor(
    owning: try retryingInterrupts("open", path: "/dev/null") {
      unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
    })
  func number(_ stream: LaunchOptions.Stream, own: Int32, null: Int32) -> Int32 {
    switch stream {
    case .inherit: own
    case .null: null
    case .descriptor(let descriptor): descriptor
    }
  }
  let descriptors =
    [
      number(options.input, own: 0, null: null.number),
      number(options.output, own: 1, null: null.number),
      number(options.errors, own: 2, null: null.number),
    ] + options.inherited
  var processID: Int32 = 0
  // SAFETY: every pointer in the request is to an array or string that outlives the call.
  let code = unsafe withCStrings([options.executable] + options.arguments) { arguments in
    unsafe withCStrings(childEnvironment(options.environment)) { environment in
      unsafe descriptors.withUnsafeBufferPointer { descriptors in
        unsafe withOptionalCString(options.directory) { directory in
          var request = unsafe linux_launch(
            executable: arguments[0], arguments: arguments, environment: environment,
            directory: directory, descriptors: descriptors.baseAddress,
            descriptorCount: UInt32(descriptors.count), hasOwnGroup: options.hasOwnGroup)
          return unsafe linux_launch(&request, &processID)
        }
      }
    }
  }
  guard code == 0 else {
    throw SystemError(code: code, operation: "posix_spawn", path: options.executable)
  }
  return processID
}

private func childEnvironment(_ changes: [String: String?]) -> [String] {
  var result = ownEnvironment().filter { entry in
    let name = entry.prefix { $0 != "=" }
    return changes[String(name)] == nil
  }
  for (name, value) in changes.sorted(by: { $0.key < $1.key }) {
    if let value { result.append("\(name)=\(value)") }
  }
  return result
}
