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

  /// Makes a closed peer an error of the write that meets it, and not the end of this process.
  /// Programs that this one starts, or becomes, have SIGPIPE as usual.
  package static func ignoreBrokenPipes() { _ = signal(SIGPIPE, SIG_IGN) }

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
