import Glibc

/// Signals by their meaning, for modules that do not import Glibc.
package enum Signal {
  package static let interrupt = SIGINT
  package static let terminate = SIGTERM
  package static let kill = SIGKILL
  package static let stop = SIGSTOP
  package static let `continue` = SIGCONT

  /// Whether there is a signal of this number that a process can handle.
  package static func canBeHandled(_ number: Int32) -> Bool {
    (1...64).contains(number) && number != SIGKILL && number != SIGSTOP
  }

  /// Ends this process by SIGABRT, whoever blocks or handles it: `abort(3)`.
  package static func abort() -> Never { Glibc.abort() }

  /// Makes a closed peer, and a file longer than this process may make (`RLIMIT_FSIZE`), errors of
  /// the write that meets them, and not the end of this process. For programs: a library leaves the
  /// signals of its process alone. Programs that this one starts, or becomes, have them as usual.
  package static func ignoreFailedWrites() {
    for number in [SIGPIPE, SIGXFSZ] { _ = signal(number, SIG_IGN) }
  }

  /// Sends a signal to this process: `kill(2)`.
  package static func sendToSelf(_ number: Int32) { Glibc.kill(getpid(), number) }
}

#if CrashPoints
  /// Dies at once, as if by another's `kill -9`: nothing is cleaned up, nothing flushed.
  package func killOwnProcess() {
    kill(getpid(), SIGKILL)
    while true { pause() }
  }
#endif
