import CLinuxShims
import Glibc
import Synchronization

/// Turns SIGINT, SIGTERM and SIGHUP into a raised ``StopSignal``, so that a program stops in an
/// orderly way. A second signal, a second later or more, ends it at once. An earlier one counts as
/// the same request, because a closed terminal and timeout(1) signal twice; so does a signal from
/// ``PeerProcess``. SIGPIPE is ignored: a closed peer is an error of the write.
///
/// Start it first in `main`, before any other thread: the signals are blocked in the calling
/// thread and in those it starts later.
package final class SignalWatcher: Sendable {
  package let stop: StopSignal
  private let received = Atomic<Int32>(0)

  /// Signals within this time of the first are ignored.
  private static let echoNs: UInt64 = 1_000_000_000

  package init() throws(SystemError) {
    stop = try StopSignal()
    let code = linux_block_stop_signals()
    guard code == 0 else { throw SystemError(code: code, operation: "pthread_sigmask") }
    try startThread(named: "signals") { [self] in watch() }
  }

  /// The signal that raised `stop`, if one did.
  package var signal: Int32? {
    let number = received.load(ordering: .acquiring)
    return number == 0 ? nil : number
  }

  /// Whether SIGINT (Ctrl-C) was received, after which a program exits with status 130. SIGTERM
  /// requests the clean exit that follows.
  package var isInterrupted: Bool { signal == SIGINT }

  /// Runs a call of a library that takes long and does not watch `stop`. A signal that arrives
  /// before or during the call ends this process at once, with the status that a shell gives it.
  /// - Parameter ending: called before, with that status.
  package func endingAtOnce<Value, Failure>(
    _ ending: @escaping @Sendable (_ status: Int32) -> Void,
    during call: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    let end: @Sendable () -> Void = { [self] in
      guard let signal else { return }
      ending(128 + signal)
      _exit(128 + signal)
    }
    return try stop.observed(by: end) { Result { () throws(Failure) in try call() } }.get()
  }

  private func watch() {
    var firstAtNs: UInt64 = 0
    while true {
      let next = linux_wait_for_stop_signal()
      guard next.number > 0 else { return }
      if signal != nil {
        // SIGHUP does not come from the user but from the kernel, when the terminal closes. A
        // ``PeerProcess`` kills after its own deadline, so its queued signals are ignored too.
        let isEcho = monotonicNowNs() &- firstAtNs < Self.echoNs
        if next.number == SIGHUP || next.isQueued || isEcho { continue }
        _exit(128 + next.number)
      }
      firstAtNs = monotonicNowNs()
      received.store(next.number, ordering: .releasing)
      stop.raise()
    }
  }
}
