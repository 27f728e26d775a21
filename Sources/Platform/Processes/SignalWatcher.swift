import CLinuxShims
import Glibc
import Synchronization

/// Turns SIGINT, SIGTERM and SIGHUP into a raised ``StopSignal``, so that a program stops in its
/// own order; one that comes a second later or more ends it at once, for a user whose patience is
/// over. What comes sooner is the same wish: a closed terminal and timeout(1) signal twice. So is
/// what ``PeerProcess`` sends.
/// SIGPIPE is ignored: a closed peer is an error of the write that met it.
///
/// Start it first in `main`, before any other thread: the signals are blocked in the calling
/// thread and in those it starts later.
package final class SignalWatcher: Sendable {
  package let stop: StopSignal
  private let received = Atomic<Int32>(0)

  /// What comes within so long of the first is no impatience.
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

  /// Whether Ctrl-C came, for which a program ends with status 130; one who sends SIGTERM asked for
  /// exactly the clean end that follows.
  package var isInterrupted: Bool { signal == SIGINT }

  private func watch() {
    var firstAtNs: UInt64 = 0
    while true {
      let next = linux_wait_for_stop_signal()
      guard next.number > 0 else { return }
      if signal != nil {
        // Nobody who is impatient sends SIGHUP: the kernel does, of a terminal that is gone. Nor is
        // a ``PeerProcess`` that signals: it kills when it has waited for long enough.
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
