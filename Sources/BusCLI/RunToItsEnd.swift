import ArgumentParser
import CommandLineSupport
import Platform

/// Runs a command as a child process. Passes a stop signal on to it, and exits with its status.
/// - Throws: unless the command exited with status 0.
func runToItsEnd(_ options: LaunchOptions, _ signals: SignalWatcher) throws {
  let child: ChildProcess
  do { child = try ChildProcess(options) } catch {
    throw NotStarted(program: options.executable, reason: error.reason)
  }
  var status = child.wait(stop: signals.stop)
  if status == nil {
    child.send(signal: signals.signal ?? Signal.terminate)
    status = child.wait()
  }
  if signals.stop.isRaised { throw Interrupted() }
  switch status {
  case .exited(0), nil: break
  case .exited(let code): throw ExitCode(code)
  case .killed(let signal): throw ExitCode(128 + signal)
  }
}

private struct NotStarted: Error, CustomStringConvertible {
  let program: String
  let reason: String

  var description: String {
    "cannot start \(program.plain): \(reason); name a program of PATH, or one by its path"
  }
}
