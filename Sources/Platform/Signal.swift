import Glibc

/// Signals by their meaning, for modules that do not import Glibc.
package enum Signal {
  package static let interrupt = SIGINT
  package static let terminate = SIGTERM
  package static let kill = SIGKILL
  package static let stop = SIGSTOP
  package static let `continue` = SIGCONT
}

#if CrashPoints
  /// Dies at once, as if by another's `kill -9`: nothing is cleaned up, nothing flushed.
  package func killOwnProcess() {
    kill(getpid(), SIGKILL)
    while true { pause() }
  }
#endif
