import Glibc

/// Signals by their meaning, for modules that do not import Glibc.
package enum Signal {
  package static let interrupt = SIGINT
  package static let terminate = SIGTERM
  package static let kill = SIGKILL
  package static let stop = SIGSTOP
  package static let `continue` = SIGCONT

  /// Whether this is the number of a signal that a process can handle.
  package static func canBeHandled(_ number: Int32) -> Bool {
    (1...64).contains(number) && number != SIGKILL && number != SIGSTOP
  }

  /// Ends this process by SIGABRT, even if it is blocked or handled: `abort(3)`.
  package static func abort() -> Never { Glibc.abort() }

  /// Ignores SIGPIPE and SIGXFSZ, so that a closed peer and an exceeded `RLIMIT_FSIZE` are errors
  /// of the write instead of ending the process. For programs: a library does not change its
  /// process's signals. Programs that this one starts or executes have the default handling.
  package static func ignoreFailedWrites() {
    for number in [SIGPIPE, SIGXFSZ] { _ = signal(number, SIG_IGN) }
  }

  /// Sends a signal to this process: `kill(2)`.
  package static func sendToSelf(_ number: Int32) { Glibc.kill(getpid(), number) }
}

#if CrashPoints
  /// Dies at once, as by `kill -9`: without cleanup or flushing.
  package func killOwnProcess() {
    kill(getpid(), SIGKILL)
    while true { pause() }
  }
#endif
