import Platform
import Synchronization

/// Interrupts a wait for samples when other work is due. Can be raised repeatedly.
final class Wake: Sendable {
  private let current: Mutex<StopSignal>

  init() throws(SystemError) { current = Mutex(try StopSignal()) }

  /// The signal that interrupts the current wait.
  var signal: StopSignal { current.withLock { $0 } }

  func raise() { signal.raise() }

  /// Returns whether it was raised since the last call. State read after this call is current.
  func take() throws(SystemError) -> Bool {
    guard signal.isRaised else { return false }
    let next = try StopSignal()
    current.withLock { $0 = next }
    return true
  }
}
