import Platform
import Synchronization

/// Ends a wait for samples whenever there is something else to look at, as often as there is.
final class Wake: Sendable {
  private let current: Mutex<StopSignal>

  init() throws(SystemError) { current = Mutex(try StopSignal()) }

  /// What a wait is to be ended by.
  var signal: StopSignal { current.withLock { $0 } }

  func raise() { signal.raise() }

  /// Whether it was raised since this was last asked. What is looked at after that is new enough.
  func take() throws(SystemError) -> Bool {
    guard signal.isRaised else { return false }
    let next = try StopSignal()
    current.withLock { $0 = next }
    return true
  }
}
